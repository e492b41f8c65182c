// stores
