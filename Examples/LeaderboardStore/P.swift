public enum LeaderboardStorePlaceholder {}
