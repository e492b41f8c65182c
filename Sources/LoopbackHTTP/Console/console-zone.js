// The form for a new zone, which is also where an empty server begins.

const defaultZone = '_defaultZone';

function openZoneForm() {
  const place = state.place || {};
  const field = (label, input) => make('div', {class: 'edited'},
    make('label', {class: 'label', for: input.id}, label), input);
  const text = (id, value, settings) => {
    const input = make('input', {id, autocomplete: 'off', spellcheck: 'false', ...settings});
    input.value = value || '';
    return input;
  };
  const choice = (id, words, value) => make('select', {id}, ...words.map(word =>
    make('option', {value: word, selected: word === value}, word)));
  const account = text('zoneAccount', place.account || state.acting || 'default',
    {required: true, list: 'zoneAccounts'});
  const container = text('zoneContainer', place.container,
    {required: true, placeholder: 'iCloud.com.example.app'});
  const environment = choice('zoneEnvironment', ['development', 'production'], place.environment);
  const scope = choice('zoneScope', ['private', 'public'], place.scope);
  const name = text('zoneName', '', {placeholder: defaultZone});
  const nameField = field('Zone name', name);
  const note = make('p', {class: 'dim'});
  const showScope = () => {
    nameField.hidden = scope.value === 'public';
    note.textContent = scope.value === 'public'
      ? 'The public database has one zone, ' + defaultZone + '. The account writes its records.'
      : 'An account that does not exist yet is added.';
  };
  scope.addEventListener('change', showScope);
  showScope();
  const inputs = [account, container, environment, scope, name];
  const mark = () => inputs.map(input => input.value).join('\n');
  const first = mark();
  const form = sentForm({
    label: 'New zone', save: 'Create zone',
    parts: [make('h3', {}, 'New zone'), field('Account', account), field('Container', container),
      field('Environment', environment), field('Database', scope), nameField, note,
      make('datalist', {id: 'zoneAccounts'}, ...state.accounts.map(one =>
        make('option', {value: one.account})))],
    send: () => createZone({container: container.value.trim(), environment: environment.value,
      scope: scope.value, account: account.value.trim(),
      zone: scope.value === 'private' && name.value || defaultZone}),
    done: made => {
      closeForm(made ? at('main') : at('newZone'));
      if (made) go(made);
    },
  });
  form.isEdited = () => mark() !== first;
  showForm(form);
}

// Creates a zone and its account; the default zone exists in every database.
async function createZone(place) {
  await signIn(place.account);
  if (place.zone !== defaultZone) {
    const {zones: [zone]} = await serve(place, 'zones/modify', {operations: [
      {operationType: 'create', zone: {zoneID: {zoneName: place.zone}}}]});
    if (zone.serverErrorCode) throw refusal(zone, 400);
  }
  if (place.scope === 'private') return place;
  sessionStorage.setItem(actingKey, place.account);
  state.acting = place.account;
  return {...place, account: ''};
}
