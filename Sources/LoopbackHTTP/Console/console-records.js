// The contents of the server.

const firstChanges = 40;
// The server lists no more at once.
const mostChanges = 10_000;

const emptyState = () => ({
  databases: [], place: null, zones: null, status: {}, pages: 1, tags: new Map(),
  tagsOf: '', devices: [], accounts: [], keys: [], acting: '', changeCount: firstChanges,
  schema: {recordTypes: []},
});
const state = emptyState();
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

// Goes to a place after a request, unless another address than `hash` was chosen meanwhile.
function goFrom(hash, place) {
  if (location.hash === hash) go(place); else refresh();
}

const query = place => ({
  container: place.container, environment: place.environment,
  account: place.scope === 'public' ? undefined : place.account,
});

// Reads the contents of the server, and shows a place when all of it is there: until then the page,
// and `state.place` with it, keeps the one before.
async function load(signal) {
  const {hash} = location;
  const asked = chosen();
  const namesZone = Boolean(asked && asked.zone);
  const [status, {accounts}, {databases}, {devices}, {keys}] = await Promise.all(
    ['status', 'accounts', 'databases', 'devices', 'keys'].map(path =>
      ask(path, null, null, signal)));
  Object.assign(state, {status, accounts, databases, devices, keys});
  showActing();
  showServer();
  // A fault may hold what is asked next, and can be removed then.
  if (status.faultControl) showFaults(await ask('faults', null, null, signal));
  const place = asked || firstPlace();
  const view = {
    place, zones: null, subscriptions: null, changes: null, found: {records: [], count: 0},
    schema: {recordTypes: []},
  };
  try {
    if (place) await loadPlace(view, signal);
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401 || isOutage(error)) throw error;
    view.error = error.message;
  }
  signal.throwIfAborted();
  // From now on a zone that was chosen here stays, whatever else appears.
  if (place && place.zone && !namesZone && location.hash === hash) {
    history.replaceState(null, '', address(place));
  }
  show(view);
}

function firstPlace() {
  const {databases} = state;
  const first = databases.find(database => database.scope === 'private') || databases[0];
  return first ? placeOf(first) : null;
}

// Reads a place; what was read before an error is shown with it.
async function loadPlace(view, signal) {
  const {place} = view;
  const {container, environment} = place;
  view.schema = await ask('schema', {container, environment}, null, signal);
  const isShared = place.scope === 'shared';
  // Subscriptions belong to an account, in the public database too.
  const account = place.account || state.acting;
  const [zones, {subscriptions}] = await Promise.all([
    isShared ? serve(place, 'zones/list', {}, signal).then(({zones}) => ({zones, deletedZones: []}))
      : ask('zones', query(place), null, signal),
    account ? ask('subscriptions', {...query(place), account, scope: place.scope}, null, signal)
      : {subscriptions: null},
  ]);
  Object.assign(view, {zones, subscriptions});
  const ids = zones.zones.map(zone => zone.zoneID);
  if (!place.zone && ids.length) {
    const first = ids.find(id => id.zoneName !== defaultZone) || ids[0];
    place.zone = first.zoneName;
    if (isShared) place.owner = first.ownerRecordName;
  }
  if (!place.zone) return;
  // The control interface has no change log of a zone as the accounts that share it see it.
  view.changes = isShared ? null : (await ask('changes', {...query(place), zone: place.zone,
    latest: state.changeCount, limit: mostChanges}, null, signal)).changes.reverse();
  if (place.record) {
    const record = await currentRecord(place, place.record, signal);
    view.found = {records: record ? [record] : []};
  } else {
    const read = place.type ? find : isShared ? loadShared : loadZone;
    view.found = await read(place, signal);
  }
}

// A zone's records from the control interface, which no fault delays; a query is a request.
async function loadZone(place, signal) {
  let records = [], answer = {}, newest;
  for (let page = 0; page < state.pages; page += 1) {
    answer = await ask('records',
      {...query(place), zone: place.zone, ...latest, after: answer.next}, null, signal);
    records = records.concat(answer.records);
    newest = newest || answer.newest;
    if (answer.next === undefined) break;
  }
  const more = answer.next !== undefined;
  return {...answer, records: more ? records : byName(records), newest, more};
}

const latest = {order: 'latest', numbersAsStrings: true};

// Names tell more than times, but only all of them can be in order.
const byName = records => records.sort((one, other) => one.recordName < other.recordName ? -1 : 1);

// The record as it is now; nothing if there is none.
async function currentRecord(place, recordName, signal) {
  const {records: [record]} = place.scope === 'shared'
    ? await serve(place, 'records/lookup', {zoneID: zoneOf(place), numbersAsStrings: true,
      records: [{recordName}]}, signal)
    : await ask('records', {...query(place), zone: place.zone, ...latest, record: recordName},
      null, signal);
  const code = record && record.serverErrorCode;
  if (code && code !== 'NOT_FOUND') throw refusal(record, 400);
  return code ? undefined : record;
}

// The shared zone that was read last, so that an event costs only what changed.
let keptZone = null;

// What later requests would rely on, and another server or a reset makes wrong.
function forgetAnswers() {
  sessions.clear();
  keptZone = null;
}

// A zone that another user shares: only the web services show it as the account sees it.
async function loadShared(place, signal) {
  const name = address(zonePlace(place));
  const isKept = keptZone !== null && keptZone.name === name;
  const zone = isKept ? keptZone : {name, records: new Map()};
  // A zone that was read in part is not kept.
  keptZone = null;
  let page;
  do {
    [page] = (await serve(place, 'changes/zone', {numbersAsStrings: true,
      zones: [{zoneID: zoneOf(place), syncToken: zone.token}]}, signal)).zones;
    if (page.serverErrorCode) {
      // The token may have expired.
      if (isKept) return loadShared(place, signal);
      throw refusal(page, 400);
    }
    for (const record of page.records) {
      zone.records.delete(record.recordName);
      if (!record.deleted) zone.records.set(record.recordName, record);
    }
    zone.token = page.syncToken;
  } while (page.moreComing);
  keptZone = zone;
  const records = [...zone.records.values()].reverse();
  const count = records.length;
  const more = count > pageLength * state.pages;
  return {count, more,
    records: more ? records.slice(0, pageLength * state.pages) : byName(records)};
}

const pageLength = 200;

async function find(place, signal) {
  const types = fieldTypesOf(place, place.type);
  const body = {
    zoneID: zoneOf(place), resultsLimit: pageLength, numbersAsStrings: true,
    query: {recordType: place.type,
      filterBy: new PredicateReader(place.where || '', types).filters(),
      sortBy: place.sort ? [sortOf(place.sort)] : []},
  };
  let records = [], answer = {};
  for (let page = 0; page < state.pages; page += 1) {
    answer = await serve(place, 'records/query',
      {...body, continuationMarker: answer.continuationMarker}, signal);
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

function typesIn({container, environment}) {
  const name = container + '\n' + environment;
  if (!seenTypes.has(name)) seenTypes.set(name, new Map());
  return seenTypes.get(name);
}

function fieldTypesOf(place, type) {
  const types = typesIn(place);
  if (!types.has(type)) types.set(type, new Map());
  return types.get(type);
}

function noteTypes(place, records) {
  for (const {recordType, fields} of records) {
    const types = fieldTypesOf(place, recordType);
    for (const [name, field] of Object.entries(fields)) {
      if (!types.has(name) || !Array.isArray(field.value) || field.value.length) {
        types.set(name, typeOf(recordType, name, field));
      }
    }
  }
}

// What does not belong to a place.
function showServer() {
  const {status} = state;
  at('totals').textContent = [
    [status.accounts, 'account'], [status.databases, 'database'], [status.devices, 'device'],
  ].map(([number, word]) => number + ' ' + word + (number === 1 ? '' : 's')).join(' · ');
  at('import').disabled = status.databases > 0;
  at('importLabel').textContent = status.databases > 0
    ? 'Import: only into an empty server, so reset this one first'
    : 'Import an archive into the empty server';
  fill(at('devices'), state.devices, one => one.name + '\n' + one.account, buildDevice);
  fill(at('accounts'), state.accounts, account => account.account, buildAccount);
  at('faults').hidden = !status.faultControl;
}

function show(view) {
  const {place, zones, schema, found, error} = view;
  Object.assign(state, {place, zones, schema});
  at('wrong').textContent = error || '';
  at('more').hidden = !found.more;
  showZone(view);
  showSchema(schema);
  showTree();
  at('zoneActions').hidden = !state.status.faultControl || !place || place.scope !== 'private'
    || !place.zone;
}

function showTree() {
  const {place} = state;
  const groups = new Map();
  for (const database of state.databases) {
    const name = database.container + '\n' + database.environment;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(database);
  }
  const rows = [...groups].map(([name, databases]) => ({
    name, databases, place: place && databases.some(one => same(one, place)) ? place : null,
    zones: place && databases.some(one => same(one, place)) ? state.zones : null,
  }));
  fill(at('tree'), rows, row => row.name, buildContainer);
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

function showZone(view) {
  const {place, found: {records, newest}, error} = view;
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
  const isOne = Boolean(place && place.record);
  const gone = state.zones && place && place.zone && place.zone !== defaultZone
    && !state.zones.zones.some(({zoneID}) => zoneID.zoneName === place.zone);
  at('count').textContent = !place || !place.zone || isOne || error ? ''
    : gone ? 'no such zone' : countText(view.found);
  const here = place ? address(zonePlace(place)) : '';
  noteTypes(place, records);
  const first = state.tagsOf !== here;
  const tags = new Map(first ? [] : state.tags);
  for (const one of records) tags.set(one.recordName, one.recordChangeTag);
  const isFresh = name => !first && state.tags.get(name) !== tags.get(name);
  if (!first && newest && isFresh(newest)) {
    at('said').textContent = 'Record ' + cut(newest, 80) + ' changed';
  }
  const fresh = new Set(records.map(one => one.recordName).filter(isFresh));
  showFinder(place);
  at('tables').hidden = isOne;
  at('recordView').hidden = !isOne;
  if (isOne) showRecord(view, fresh);
  else showTables(view, fresh);
  Object.assign(state, {tags, tagsOf: here});
  showLists(view, here);
}

// The change log and the subscriptions, which may not be there to be read.
function showLists({place, changes, subscriptions}, here) {
  const isPublic = place && place.scope === 'public' && subscriptions;
  at('changes').dataset.none = changes ? 'No changes.' : place && place.scope === 'shared'
    ? 'The change log of a shared zone is in the database of its owner.' : '';
  fill(at('changes'), changes || [], change => here + '\n' + change.sequence,
    change => buildChange(place, change));
  at('moreChanges').hidden = !changes || changes.length < state.changeCount
    || state.changeCount === mostChanges;
  at('subscriptionsTitle').replaceChildren('Subscriptions',
    ...isPublic ? [' of ', nameOf(state.acting)] : []);
  at('subscriptions').dataset.none = subscriptions ? 'None in this database.' : '';
  fill(at('subscriptions'), subscriptions || [], one => here + '\n' + one.subscriptionID,
    buildSubscription);
}

function countText({records, count, countIsMinimum, more, isQuery}) {
  if (isQuery) return (more ? 'the first ' : '') + count + ' found';
  if (more) {
    return 'the latest ' + records.length + ' of ' + (countIsMinimum ? 'more than ' : '')
      + count.toLocaleString('en') + ' records';
  }
  return count + (count === 1 ? ' record' : ' records');
}

function buildChange(place, change) {
  return make('li', {class: 'line'}, span('number', '#' + change.sequence),
    make('a', {class: 'name', href: address({...zonePlace(place), record:
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
