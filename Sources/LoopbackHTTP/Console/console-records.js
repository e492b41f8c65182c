// The contents of the server.

const state = {
  databases: [], place: null, zones: null, status: {}, pages: 1, tags: new Map(),
  tagsOf: '', devices: [], accounts: [], keys: [], acting: '', changeCount: 40,
  schema: {recordTypes: []},
};
const placeNames = ['container', 'environment', 'scope', 'account', 'zone', 'owner', 'record',
  'type', 'where', 'sort'];

function address(place) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value) parts.set(name, value);
  return '#' + parts;
}

function chosen() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (!parts.get('container')) return null;
  const place = Object.fromEntries(placeNames.map(name => [name, parts.get(name) || '']));
  return {...place, environment: place.environment || 'development',
    scope: place.scope || (place.account ? 'private' : 'public')};
}

const same = (one, other) => ['container', 'environment', 'scope', 'account']
  .every(name => (one[name] || '') === (other[name] || ''));

function placeOf(database, zone) {
  const {container, environment, scope, account} = database;
  return {container, environment, scope, account: account || '', zone: zone || ''};
}

// The zone of a place, without the record and the query.
const zonePlace = ({container, environment, scope, account, zone, owner}) =>
  ({container, environment, scope, account, zone, owner});

const zoneOf = place => ({zoneName: place.zone, ownerRecordName: place.owner || undefined});

function go(place) {
  if (address(place) === location.hash) refresh();
  else location.hash = address(place);
}

const query = place => ({
  container: place.container, environment: place.environment,
  account: place.scope === 'public' ? undefined : place.account,
});

async function load() {
  const [status, accounts, databases, devices, keys] = await Promise.all(
    ['status', 'accounts', 'databases', 'devices', 'keys'].map(path => ask(path)));
  Object.assign(state, {
    status, accounts: accounts.accounts, databases: databases.databases,
    devices: devices.devices, keys: keys.keys,
  });
  let place = chosen();
  if (!place && state.databases.length) {
    const own = state.databases.find(database => database.scope === 'private');
    place = placeOf(own || state.databases[0]);
  }
  state.place = place;
  state.zones = null;
  showActing();
  state.schema = place ? await ask('schema',
    {container: place.container, environment: place.environment}) : {recordTypes: []};
  at('wrong').textContent = '';
  try {
    if (place) await loadPlace(place);
    else showZone(null, {records: [], count: 0, changes: []}, []);
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    at('wrong').textContent = error.message;
    showZone(place, {records: [], count: 0, changes: [], isQuery: true}, []);
  }
  showSchema(state.schema);
  showAround();
  if (status.faultControl) showFaults(await ask('faults'));
}

async function loadPlace(place) {
  const isShared = place.scope === 'shared';
  const [zones, subscriptions] = await Promise.all([
    isShared ? serve(place, 'zones/list', {}).then(({zones}) => ({zones, deletedZones: []}))
      : ask('zones', query(place)),
    place.account ? ask('subscriptions', {...query(place), account: place.account,
      scope: place.scope}) : {subscriptions: []},
  ]);
  state.zones = zones;
  const ids = zones.zones.map(zone => zone.zoneID);
  if (!place.zone && ids.length) {
    const first = ids.find(id => id.zoneName !== '_defaultZone') || ids[0];
    place.zone = first.zoneName;
    if (isShared) place.owner = first.ownerRecordName;
    // From now on it stays, whatever else appears.
    history.replaceState(null, '', address(place));
  }
  const found = place.zone ? await (isShared ? loadShared(place) : loadZone(place))
    : {records: [], count: 0, changes: []};
  at('more').hidden = !found.more;
  showZone(place, found, subscriptions.subscriptions);
}

// A zone's records from the control interface, which no fault delays; a query is a request.
async function loadZone(place) {
  const zone = {...query(place), zone: place.zone};
  const log = ask('changes', {...zone, latest: state.changeCount, limit: 10000});
  if (place.record) {
    const answer = await ask('records', {...zone, ...latest, record: place.record});
    return {...answer, changes: (await log).changes.reverse()};
  }
  if (place.type) return {...await find(place), changes: (await log).changes.reverse()};
  let records = [], answer = {}, newest;
  for (let page = 0; page < state.pages; page += 1) {
    answer = await ask('records', {...zone, ...latest, after: answer.next});
    records = records.concat(answer.records);
    newest = newest || answer.newest;
    if (answer.next === undefined) break;
  }
  const more = answer.next !== undefined;
  // Names tell more than times, but only all of them can be in order.
  if (!more) records.sort((one, other) => one.recordName < other.recordName ? -1 : 1);
  return {...answer, records, newest, more, changes: (await log).changes.reverse()};
}

const latest = {order: 'latest', numbersAsStrings: true};

// The record as it is now, for an edit that met another one; nothing if it is gone.
async function currentRecord(place, recordName) {
  const {records} = place.scope === 'shared'
    ? await serve(place, 'records/lookup', {zoneID: zoneOf(place), records: [{recordName}]})
    : await ask('records', {...query(place), zone: place.zone, ...latest, record: recordName});
  return records.find(record => !record.serverErrorCode);
}

// A zone that another user shares: only the web services show it as the account sees it.
async function loadShared(place) {
  if (place.type) return {...await find(place), changes: []};
  let records = [], feed = {};
  do {
    [feed] = (await serve(place, 'changes/zone',
      {zones: [{zoneID: zoneOf(place), syncToken: feed.syncToken}]})).zones;
    if (feed.serverErrorCode) throw refusal(feed, 400);
    records = records.concat(feed.records.filter(record => !record.deleted));
  } while (feed.moreComing);
  const count = records.length;
  if (place.record) records = records.filter(record => record.recordName === place.record);
  return {records, count, changes: []};
}

async function find(place) {
  const types = fieldTypesOf(place.type);
  const body = {
    zoneID: zoneOf(place), resultsLimit: 200,
    query: {recordType: place.type,
      filterBy: new PredicateReader(place.where || '', types).filters(),
      sortBy: place.sort ? [sortOf(place.sort)] : []},
  };
  let records = [], answer = {};
  for (let page = 0; page < state.pages; page += 1) {
    answer = await serve(place, 'records/query',
      {...body, continuationMarker: answer.continuationMarker});
    records = records.concat(answer.records);
    if (!answer.continuationMarker) break;
  }
  return {records, count: records.length, more: Boolean(answer.continuationMarker), isQuery: true};
}

function sortOf(sort) {
  const key = sort.replace(/^-/, '');
  const system = systemFields[key];
  return {...system ? {systemFieldName: system} : {fieldName: key},
    ascending: !sort.startsWith('-')};
}

// For each container and environment, its record types with the types of their fields, as far as
// they were seen.
const seenTypes = new Map();

function typesHere() {
  const {container, environment} = state.place || {};
  const name = container + '\n' + environment;
  if (!seenTypes.has(name)) seenTypes.set(name, new Map());
  return seenTypes.get(name);
}

function fieldTypesOf(type) {
  const types = typesHere();
  if (!types.has(type)) types.set(type, new Map());
  return types.get(type);
}

function noteTypes(records) {
  for (const record of records) {
    const types = fieldTypesOf(record.recordType);
    for (const [name, field] of Object.entries(record.fields)) {
      if (!types.has(name) || !Array.isArray(field.value) || field.value.length) {
        types.set(name, field.type);
      }
    }
  }
}

function showAround() {
  const {status} = state;
  at('totals').textContent = [
    [status.accounts, 'account'], [status.databases, 'database'], [status.devices, 'device'],
  ].map(([number, word]) => number + ' ' + word + (number === 1 ? '' : 's')).join(' · ');
  at('import').disabled = status.databases > 0;
  at('importLabel').textContent = status.databases > 0
    ? 'Import: only into an empty server, so reset this one first'
    : 'Import an archive into the empty server';
  const groups = new Map();
  for (const database of state.databases) {
    const name = database.container + '\n' + database.environment;
    groups.set(name, [...(groups.get(name) || []), database]);
  }
  const place = state.place;
  const rows = [...groups].map(([name, databases]) => ({
    name, databases, place: place && databases.some(one => same(one, place)) ? place : null,
    zones: place && databases.some(one => same(one, place)) ? state.zones : null,
  }));
  fill(at('tree'), rows, row => row.name, buildContainer);
  fill(at('devices'), state.devices, one => one.name + '\n' + one.account, buildDevice);
  fill(at('accounts'), state.accounts, account => account.account, buildAccount);
  at('faults').hidden = !status.faultControl;
  at('zoneActions').hidden = !status.faultControl || !place || place.scope !== 'private'
    || !place.zone;
}

function buildContainer({name, databases, place, zones}) {
  const [container, environment] = name.split('\n');
  return make('div', {class: 'container'},
    make('h3', {}, nameOf(container), ' ',
      environment === 'production' ? span('tag', 'production') : null),
    make('ul', {}, ...databases.map(database => {
      const open = place && same(database, place);
      const label = (database.account ? database.account + ' · ' : '') + database.scope;
      return make('li', {},
        link(placeOf(database), label, size(database.byteCount), open && !place.zone),
        open && zones ? zoneList(database, zones, place.zone) : null);
    })));
}

function zoneList(database, zones, current) {
  return make('ul', {},
    ...zones.zones.map(({zoneID}) => make('li', {}, link(
      {...placeOf(database, zoneID.zoneName),
        owner: database.scope === 'shared' ? zoneID.ownerRecordName : ''},
      zoneID.zoneName, '', zoneID.zoneName === current))),
    ...zones.deletedZones.map(({zoneID, reason}) => make('li', {class: 'gone'},
      make('s', {}, nameOf(zoneID.zoneName)), span('tag', reason))));
}

function link(place, label, detail, current) {
  const target = address(place);
  return make('a', {href: target, 'data-name': target, 'aria-current': current && 'page'},
    make('span', {}, nameOf(label)), detail ? span('dim', detail) : null);
}

// One zone: its records by type, as tables, or one record of them.

function showZone(place, found, subscriptions) {
  const {records, newest, changes} = found;
  const path = place ? [place.container, place.environment, place.account, place.scope] : [];
  const back = place && place.record ? [address(zonePlace(place))] : [];
  // The signs between the parts are no parts of the link.
  fill(at('path'), [...path.filter(Boolean), ...back], part => part, part => make('span', {},
    back.includes(part) ? make('a', {href: part, 'data-name': 'back'}, 'all records of the zone')
      : nameOf(part)));
  at('zone').replaceChildren(nameOf(place ? place.zone
    || (place.scope === 'shared' ? 'Shared with ' + place.account : 'No zone yet')
    : 'Nothing stored yet'));
  at('welcome').hidden = Boolean(place && (place.zone || place.scope === 'shared'));
  const gone = state.zones && place && place.zone && place.zone !== defaultZone
    && !state.zones.zones.some(({zoneID}) => zoneID.zoneName === place.zone);
  at('count').textContent = !place || !place.zone ? '' : gone ? 'no such zone'
    : countText(found);
  const here = place ? address(zonePlace(place)) : '';
  noteTypes(records);
  const first = state.tagsOf !== here;
  const tags = new Map(first ? [] : state.tags);
  for (const one of records) tags.set(one.recordName, one.recordChangeTag);
  const isFresh = name => !first && state.tags.get(name) !== tags.get(name);
  if (!first && newest && isFresh(newest)) {
    at('said').textContent = 'Record ' + cut(newest, 80) + ' changed';
  }
  const fresh = new Set(records.map(one => one.recordName).filter(isFresh));
  const isOne = Boolean(place && place.record);
  at('finder').hidden = !place || !place.zone || isOne;
  at('tables').hidden = isOne;
  at('recordView').hidden = !isOne;
  if (isOne) showRecord(place, records[0], fresh);
  else showTables(place, found, fresh);
  Object.assign(state, {tags, tagsOf: here});
  at('moreChanges').hidden = changes.length < state.changeCount;
  fill(at('changes'), changes, change => here + '\n' + change.sequence, buildChange);
  fill(at('subscriptions'), subscriptions, one => here + '\n' + one.subscriptionID,
    buildSubscription);
}

function countText({records, count, countIsMinimum, more, isQuery}) {
  if (isQuery) return count + ' found';
  if (more) {
    return 'the latest ' + records.length + ' of ' + (countIsMinimum ? 'more than ' : '')
      + count.toLocaleString('en') + ' records';
  }
  return count + (count === 1 ? ' record' : ' records');
}

function buildChange(change) {
  return make('li', {class: 'line'}, span('number', '#' + change.sequence),
    make('a', {class: 'name', href: address({...zonePlace(state.place), record:
      change.recordName})}, nameOf(change.recordName)), span('dim', change.recordType),
    change.deleted ? span('bad', 'deleted') : span('dim', 'tag ' + change.recordChangeTag),
    change.device ? span('dim end', 'by ' + change.device) : null);
}

function buildSubscription(one) {
  const zone = one.zoneID ? ' of ' + one.zoneID.zoneName : '';
  const type = one.query ? ' · ' + one.query.recordType : '';
  return make('li', {class: 'line'}, make('span', {class: 'name'}, nameOf(one.subscriptionID)),
    span('dim', one.subscriptionType + zone + type),
    one.firesOn ? span('dim end', 'on ' + one.firesOn.join(', ')) : null);
}
