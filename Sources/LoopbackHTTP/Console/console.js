'use strict';
// The token and the requests.

const base = '/cloudsync/1/';
const key = 'cloudsync-control-token';
const at = id => document.getElementById(id);
let token = '';

class Refused extends Error {
  constructor(status, reason) { super(reason); this.status = status; }
}

async function ask(path, query, body) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined);
  const parts = given.map(pair => pair.map(encodeURIComponent).join('='));
  const options = {
    headers: {authorization: 'Bearer ' + token}, cache: 'no-store', credentials: 'omit',
  };
  if (body) {
    options.method = 'POST';
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const address = base + path + (parts.length ? '?' + parts.join('&') : '');
  const answer = await fetch(address, options);
  const json = await answer.json().catch(() => ({reason: 'no answer in JSON'}));
  if (!answer.ok) throw new Refused(answer.status, json.reason || 'status ' + answer.status);
  return json;
}

// The fragment never leaves the browser; once read it leaves the address bar too.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    history.replaceState(null, '', location.pathname);
    sessionStorage.setItem(key, given);
  }
  token = sessionStorage.getItem(key) || '';
}

function forget(reason) {
  sessionStorage.removeItem(key);
  token = '';
  at('contents').hidden = at('leave').hidden = true;
  at('tokenForm').hidden = false;
  at('refused').textContent = reason || '';
  at('totals').textContent = '';
  live('off', 'Not connected');
  at('token').value = '';
  at('token').focus();
}

function live(state, text) {
  const place = at('live');
  if (place.dataset.state === state && place.textContent === text) return;
  place.dataset.state = state;
  place.textContent = text;
}

// Elements, lists that keep what did not change, and values as text.

function make(tag, settings, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') element.addEventListener(value[0], value[1]);
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== null));
  return element;
}

const span = (kind, text) => make('span', {class: kind}, text);

// Elements of unchanged items are kept, and with them focus and scroll position.
function fill(parent, items, name, build) {
  const old = new Map([...parent.children].map(node => [node.itemName, node]));
  const focused = document.activeElement;
  const focusName = focused && parent.contains(focused) ? focused.dataset.name : undefined;
  let next = parent.firstElementChild;
  for (const item of items) {
    const itemName = name(item);
    const mark = JSON.stringify(item);
    let node = old.get(itemName);
    old.delete(itemName);
    if (!node || node.itemMark !== mark) {
      const fresh = build(item, node);
      Object.assign(fresh, {itemName, itemMark: mark});
      if (node) {
        if (next === node) next = fresh;
        node.replaceWith(fresh);
      }
      node = fresh;
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  for (const node of old.values()) node.remove();
  if (focusName && !parent.contains(document.activeElement)) {
    const again = [...parent.querySelectorAll('[data-name]')]
      .find(node => node.dataset.name === focusName);
    if (again) again.focus();
  }
}

function size(bytes) {
  if (bytes < 1000) return bytes + ' B';
  if (bytes < 1e6) return (bytes / 1e3).toFixed(1) + ' kB';
  return (bytes / 1e6).toFixed(1) + ' MB';
}

const two = number => String(number).padStart(2, '0');

function clock(milliseconds) {
  const date = new Date(Number(milliseconds));
  if (isNaN(date)) return make('span', {}, String(milliseconds));
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const today = new Date().toDateString() === date.toDateString();
  return make(
    'time', {datetime: date.toISOString(), title: day + ' ' + time},
    today ? time : day + ' ' + time);
}

function plain(value, type) {
  if (value === null || value === undefined) return 'not a number';
  if (Array.isArray(value)) {
    const inner = type.replace(/_LIST$/, '');
    return value.length ? value.map(one => plain(one, inner)).join('\n') : 'empty list';
  }
  switch (type) {
  case 'TIMESTAMP': {
    const date = new Date(Number(value));
    return isNaN(date) ? String(value) : date.toISOString().replace('T', ' ');
  }
  case 'BYTES': {
    const length = value.length / 4 * 3 - (value.match(/=*$/)[0].length);
    return size(length) + '  ' + value.slice(0, 96) + (value.length > 96 ? '…' : '');
  }
  case 'REFERENCE':
    return '→ ' + value.recordName + (value.action === 'DELETE_SELF' ? '  (owned)' : '');
  case 'ASSETID':
    return 'file of ' + size(Number(value.size) || 0) + '  ' + (value.fileChecksum || '');
  case 'LOCATION': return value.latitude + ', ' + value.longitude;
  default: return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '…' : text;
}

// The contents of the server.

const state = {
  databases: [], place: null, zones: null, status: {}, pages: 1, tags: new Map(),
  tagsOf: '', devices: [], accounts: [],
};

function address(place) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value) parts.set(name, value);
  return '#' + parts;
}

function chosen() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const names = ['container', 'environment', 'scope', 'account', 'zone'];
  if (!parts.get('container')) return null;
  return Object.fromEntries(names.map(name => [name, parts.get(name) || '']));
}

const same = (one, other) => ['container', 'environment', 'scope', 'account']
  .every(name => (one[name] || '') === (other[name] || ''));

function placeOf(database, zone) {
  const {container, environment, scope, account} = database;
  return {container, environment, scope, account: account || '', zone: zone || ''};
}

const query = place => ({
  container: place.container, environment: place.environment,
  account: place.scope === 'public' ? undefined : place.account,
});

async function load() {
  const [status, accounts, databases, devices] = await Promise.all(
    ['status', 'accounts', 'databases', 'devices'].map(path => ask(path)));
  Object.assign(state, {
    status, accounts: accounts.accounts, databases: databases.databases,
    devices: devices.devices,
  });
  let place = chosen();
  if (!place && state.databases.length) {
    const own = state.databases.find(database => database.scope === 'private');
    place = placeOf(own || state.databases[0]);
  }
  state.place = place;
  state.zones = null;
  at('wrong').textContent = '';
  try {
    if (place) await loadPlace(place);
    else showZone(null, [], 0, null, [], []);
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    at('wrong').textContent = error.message;
    showZone(place, [], 0, null, [], []);
  }
  showAround();
  if (status.faultControl) showFaults(await ask('faults'));
}

async function loadPlace(place) {
  const wants = place.scope !== 'shared';
  const [zones, subscriptions] = await Promise.all([
    wants ? ask('zones', query(place)) : {zones: [], deletedZones: []},
    place.account ? ask('subscriptions', {...query(place), account: place.account,
      scope: place.scope}) : {subscriptions: []},
  ]);
  state.zones = zones;
  const names = zones.zones.map(zone => zone.zoneID.zoneName);
  if (!place.zone && names.length) {
    place.zone = names.find(name => name !== '_defaultZone') || names[0];
    // From now on it stays, whatever else appears.
    history.replaceState(null, '', address(place));
  }
  let records = [], count = 0, newest = null, changes = [];
  if (place.zone && wants) {
    const zone = {...query(place), zone: place.zone};
    const log = ask('changes', {...zone, latest: 40});
    let next;
    for (let page = 0; page < state.pages; page += 1) {
      const answer = await ask('records', {...zone, numbersAsStrings: true, after: next});
      records = records.concat(answer.records);
      ({count, next} = answer);
      newest = answer.newest;
      if (next === undefined) break;
    }
    at('more').hidden = next === undefined;
    changes = (await log).changes.reverse();
  } else {
    at('more').hidden = true;
  }
  showZone(place, records, count, newest, changes, subscriptions.subscriptions);
}

function showAround() {
  const {status} = state;
  at('totals').textContent = [
    [status.accounts, 'account'], [status.databases, 'database'], [status.devices, 'device'],
  ].map(([number, word]) => number + ' ' + word + (number === 1 ? '' : 's')).join(' · ');
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
    make('h3', {}, container, ' ',
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
      placeOf(database, zoneID.zoneName), zoneID.zoneName, '', zoneID.zoneName === current))),
    ...zones.deletedZones.map(({zoneID, reason}) => make('li', {class: 'gone'},
      make('s', {}, zoneID.zoneName), span('tag', reason))));
}

function link(place, label, detail, current) {
  const target = address(place);
  return make('a', {href: target, 'data-name': target, 'aria-current': current && 'page'},
    make('span', {}, label), detail ? span('dim', detail) : null);
}

function showZone(place, records, count, newest, changes, subscriptions) {
  at('path').textContent = place
    ? [place.container, place.environment, place.account, place.scope].filter(Boolean)
      .join(' / ') : '';
  at('zone').textContent = place ? place.zone
    || (place.scope === 'shared' ? 'Shared with ' + place.account : 'No zone yet')
    : 'Nothing stored yet';
  const gone = state.zones && place && place.scope !== 'shared'
    && !state.zones.zones.some(({zoneID}) => zoneID.zoneName === place.zone);
  at('count').textContent = !place || !place.zone ? '' : gone ? 'no such zone'
    : count + (count === 1 ? ' record' : ' records');
  at('records').dataset.none = place && place.scope === 'shared'
    ? 'A shared database is a view: its records are in the databases of their owners.'
    : 'No records here.';
  const here = place ? address(place) : '';
  const first = state.tagsOf !== here;
  const tags = new Map(records.map(one => [one.recordName, one.recordChangeTag]));
  const rows = records.map(record => ({record, newest: record.recordName === newest}));
  fill(at('records'), rows, row => here + '\n' + row.record.recordName, row => {
    const known = state.tags.get(row.record.recordName);
    return buildRecord(row, !first && known !== row.record.recordChangeTag);
  });
  if (!first && newest && state.tags.get(newest) !== tags.get(newest)) {
    at('said').textContent = 'Record ' + cut(newest, 80) + ' changed';
  }
  Object.assign(state, {tags, tagsOf: here});
  fill(at('changes'), changes, change => here + '\n' + change.sequence, buildChange);
  fill(at('subscriptions'), subscriptions, one => here + '\n' + one.subscriptionID,
    buildSubscription);
}

function buildRecord({record, newest}, fresh) {
  const modified = record.modified || {};
  const when = span('when', modified.timestamp === undefined ? '' : 'changed ');
  if (modified.timestamp !== undefined) when.append(clock(modified.timestamp));
  if (modified.deviceID) when.append(' by ' + modified.deviceID);
  when.append(' · tag ' + record.recordChangeTag);
  const fields = Object.entries(record.fields).map(([name, field]) => {
    const text = plain(field.value, field.type);
    const long = text.length > 600 || text.split('\n').length > 9;
    return make('div', {}, make('dt', {}, name), make('dd', {},
      make('span', {class: 'value', tabindex: long && '0'}, text),
      span('kind', field.type.toLowerCase() + (field.isEncrypted ? ', encrypted' : ''))));
  });
  const links = [['parent', record.parent], ['share', record.share]]
    .filter(([, target]) => target)
    .map(([name, target]) => span('tag', name + ' ' + target.recordName));
  return make('article',
    {class: 'record' + (newest ? ' newest' : '') + (fresh ? ' fresh' : '')},
    make('div', {}, make('h4', {}, record.recordName), span('dim', record.recordType),
      newest ? span('tag now', 'newest change') : null, ...links, when),
    fields.length ? make('dl', {class: 'fields'}, ...fields)
      : make('p', {class: 'dim'}, 'No fields.'));
}

function buildChange(change) {
  return make('li', {class: 'line'}, span('number', '#' + change.sequence),
    span('name', change.recordName), span('dim', change.recordType),
    change.deleted ? span('bad', 'deleted') : span('dim', 'tag ' + change.recordChangeTag),
    change.device ? span('dim end', 'by ' + change.device) : null);
}

function buildSubscription(one) {
  const zone = one.zoneID ? ' of ' + one.zoneID.zoneName : '';
  const type = one.query ? ' · ' + one.query.recordType : '';
  return make('li', {class: 'line'}, span('name', one.subscriptionID),
    span('dim', one.subscriptionType + zone + type),
    one.firesOn ? span('dim end', 'on ' + one.firesOn.join(', ')) : null);
}

function buildAccount(account) {
  return make('li', {class: 'line'}, span('name', account.account),
    account.quota === undefined ? null : span('dim', 'at most ' + size(account.quota)),
    make('span', {class: 'dim end name'}, account.userRecordName));
}

// Devices, faults and administration.

async function order(body, place) {
  const wrong = at(place || 'faultWrong');
  wrong.textContent = '';
  try {
    showFaults(await ask('faults', null, body));
    refresh();
    return true;
  } catch (error) {
    if (error.status === 401) forget('The server does not know this token.');
    else wrong.textContent = error.message;
    return false;
  }
}

function button(label, name, settings, action) {
  return make('button', {type: 'button', 'data-name': name, ...settings,
    on: ['click', action]}, label);
}

function buildDevice(device) {
  const kind = device.online ? (device.listening ? 'on' : 'idle') : 'off';
  const words = [device.online ? 'online' : 'offline'];
  if (device.listening) words.push('listening');
  if (device.waitingPushes) words.push(device.waitingPushes + ' pushes wait');
  const line = make('div', {class: 'line'},
    make('span', {class: 'name dot ' + kind}, device.name),
    span('dim', device.account || 'signed out'),
    device.availability === 'available' ? null : span('warn', device.availability),
    span('dim end', words.join(', ')));
  if (!state.status.faultControl) return make('li', {}, line);
  const name = 'device ' + device.name + ' ' + device.account;
  const body = {action: 'device', device: device.name, account: device.account};
  const choice = make('select', {
    'aria-label': 'Account on ' + device.name, 'data-name': name + ' account',
    on: ['change', event => order({...body, availability: event.target.value})],
  }, ...Object.keys(accountWords).map(word => make('option',
    {value: word, selected: word === device.availability}, 'account ' + accountWords[word])));
  return make('li', {}, line, make('div', {class: 'controls'},
    button(device.online ? 'Take offline' : 'Bring online', name,
      {'aria-label': (device.online ? 'Take offline: ' : 'Bring online: ') + device.name},
      () => order({...body, online: !device.online})), choice));
}

const accountWords = {
  available: 'available', temporarilyUnavailable: 'not ready', restricted: 'restricted',
  couldNotDetermine: 'not determined',
};

function describe(fault) {
  const which = [fault.kind, fault.device && 'from ' + fault.device].filter(Boolean);
  const what = {
    fail: () => 'fail with ' + fault.code
      + (fault.retryAfter === undefined ? '' : ', retry after ' + fault.retryAfter + ' s'),
    'drop-answers': () => 'answer lost as ' + fault.code,
    delay: () => 'wait ' + fault.seconds + ' s',
    hold: () => 'stand still ' + (fault.point === 'afterCommit' ? 'after' : 'before')
      + ' the change',
    'drop-pushes': () => 'pushes lost',
    run: () => 'run a test’s code',
  }[fault.action]();
  const number = fault.count === undefined ? 'every' : 'next ' + fault.count;
  return [number, what, which.join(' ')];
}

function showFaults(faults) {
  at('holdPushes').checked = faults.holdsPushes;
  at('heldPushes').textContent = faults.heldPushes.length
    ? faults.heldPushes.length + ' held' : '';
  fill(at('pending'), faults.faults.map((fault, index) => ({fault, index})),
    item => item.fault.number || 'push ' + item.index, ({fault}) => {
      const [number, what, which] = describe(fault);
      return make('li', {class: 'line'}, span('number', number), span('warn', what),
        span('dim end', which), fault.number === undefined ? null
          : button('Remove', 'fault ' + fault.number, {'aria-label': 'Remove: ' + what},
            () => order({action: 'remove', number: fault.number})));
    });
  fill(at('held'), faults.heldRequests, one => one.number, one =>
    make('div', {class: 'line'}, span('warn', 'stands still'), span('name', one.kind),
      span('dim end', one.device)));
  at('release').disabled = !faults.heldRequests.length
    && !faults.faults.some(fault => fault.action === 'hold');
  at('release').textContent = faults.heldRequests.length
    ? 'Release ' + faults.heldRequests.length + ' held' : 'Release held';
  options(at('device'), state.devices.map(device => device.name), 'any device');
  options(at('quotaAccount'), state.accounts.map(account => account.account));
  if (!at('limits').contains(document.activeElement)) showLimits(faults.limits);
}

// Unchanged options are not replaced, so that an open list stays open.
function options(select, names, none) {
  const unique = [...new Set(names)];
  const mark = JSON.stringify([unique, none]);
  if (select.mark === mark) return;
  const value = select.value;
  select.replaceChildren(...(none ? [make('option', {value: ''}, none)] : []),
    ...unique.map(name => make('option', {value: name}, name)));
  select.mark = mark;
  if (unique.includes(value)) select.value = value;
}

function showLimits(limits) {
  const sizes = Object.entries(limits).filter(([, value]) => typeof value === 'number');
  fill(at('limitFields'), sizes, ([name]) => name, ([name, value]) => {
    const words = name.replace(/[A-Z]/g, letter => ' ' + letter.toLowerCase());
    return make('div', {class: 'field'}, make('label', {for: 'limit-' + name}, words),
      make('input', {id: 'limit-' + name, name, type: 'number', min: '1', step: '1',
        required: true, value: String(value)}));
  });
}

const kinds = [
  'fetchCurrentUser', 'fetchDatabaseChanges', 'fetchZoneChanges', 'fetchZones', 'modifyZones',
  'fetchRecords', 'modifyRecords', 'fetchSubscriptions', 'modifySubscriptions',
  'queryRecords', 'resolveShares', 'acceptShares', 'findUsers', 'uploadAsset',
  'downloadAsset',
];
const codes = [
  'zoneBusy', 'serviceUnavailable', 'requestRateLimited', 'networkFailure',
  'networkUnavailable', 'serverResponseLost', 'quotaExceeded', 'limitExceeded',
  'changeTokenExpired', 'zoneNotFound', 'userDeletedZone', 'notAuthenticated',
  'permissionFailure', 'accountTemporarilyUnavailable', 'managedAccountRestricted',
  'unknownItem', 'serverRecordChanged', 'batchRequestFailed', 'invalidArguments',
  'serverRejectedRequest', 'internalError', 'badContainer', 'badDatabase',
  'missingEntitlement', 'incompatibleVersion', 'constraintViolation', 'operationCancelled',
  'assetFileNotFound', 'assetFileModified', 'assetNotAvailable', 'referenceViolation',
  'alreadyShared', 'tooManyParticipants', 'participantMayNeedVerification',
  'participantAlreadyInvited', 'partialFailure', 'resultsTruncated',
];
const zoneChanges = [
  ['Expire tokens', 'expire-tokens', null],
  ['Trim tombstones', 'trim-tombstones', null],
  ['Delete zone', 'delete-zone', 'Delete the zone as another device would?'],
  ['Purge zone', 'purge-zone', 'Delete the zone as the user does in the settings?'],
  ['Reset encrypted data', 'reset-encrypted-data', 'Delete the zone as a reset does?'],
];

function chooseAction() {
  for (const field of at('fault').querySelectorAll('[data-for]')) {
    field.hidden = !field.dataset.for.split(' ').includes(at('action').value);
  }
}

function setUp(event) {
  event.preventDefault();
  const body = {};
  for (const input of at('fault').elements) {
    const hidden = input.closest('.field') && input.closest('.field').hidden;
    if (!input.name || hidden || input.value === '') continue;
    body[input.name] = input.type === 'number' ? Number(input.value) : input.value;
  }
  order(body);
}

function prepareFaults() {
  options(at('code'), codes);
  options(at('kind'), kinds, 'any kind');
  at('action').addEventListener('change', chooseAction);
  chooseAction();
  at('fault').addEventListener('submit', setUp);
  at('release').addEventListener('click', () => order({action: 'release'}));
  at('clear').addEventListener('click', () => order({action: 'clear'}));
  at('holdPushes').addEventListener('change', event => order(
    {action: event.target.checked ? 'hold-pushes' : 'release-pushes'}));
  at('limits').addEventListener('submit', event => {
    event.preventDefault();
    const inputs = [...at('limitFields').querySelectorAll('input')];
    const sizes = inputs.map(input => [input.name, Number(input.value)]);
    order({action: 'limits', ...Object.fromEntries(sizes)});
  });
  at('quota').addEventListener('submit', event => {
    event.preventDefault();
    const text = at('bytes').value;
    order({action: 'quota', account: at('quotaAccount').value,
      bytes: text === '' ? null : Number(text)});
  });
  at('zoneButtons').append(...zoneChanges.map(([label, action, question]) => button(
    label, action, {class: question && 'risky'}, () => {
      const {container, environment, account, zone} = state.place;
      if (question && !confirm(question + '\n' + zone)) return;
      order({action, container, environment, account, zone}, 'wrong');
    })));
}

const feedLength = 200;
let feed = [];
let loading = null;
let again = false;
let run = 0;

function refresh() {
  if (loading) { again = true; return loading; }
  loading = load().catch(failed).finally(() => {
    loading = null;
    if (again) { again = false; refresh(); }
  });
  return loading;
}

function failed(error) {
  if (error.status === 401) { run += 1; forget('The server does not know this token.'); }
  else if (error instanceof Refused) at('wrong').textContent = error.message;
  else live('wait', 'Connection lost, trying again');
}

function buildEvent(event) {
  const line = make('li', {class: 'line'}, clock(event.time));
  if (event.kind === 'request') {
    const {device, kind, itemCount, outcome, code} = event.request;
    line.append(span('name', device), make('span', {}, kind),
      itemCount === 1 ? '' : span('dim', '× ' + itemCount),
      outcome === 'failed' ? span('bad end', code) : span('good end', 'ok'));
  } else if (event.kind === 'push') {
    const {device, subscriptionID, fate} = event.push;
    line.append(span('name', '→ ' + device), span('dim', 'push ' + subscriptionID),
      fate === 'delivered' ? '' : span('warn end', fate));
  } else if (event.kind === 'administration') {
    const {account, container} = event.administration;
    line.append(span('warn', 'administration'),
      span('dim end', [account, container].filter(Boolean).join(' · ')));
  } else {
    line.append(span('warn', event.kind));
  }
  return line;
}

function showEvents(page, anew) {
  if (anew) feed = [];
  feed = page.events.slice().reverse().concat(feed).slice(0, feedLength);
  fill(at('feed'), feed, event => event.number, buildEvent);
}

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// Ends when another run began, as after another token.
async function follow() {
  const mine = run += 1;
  let after = null, tries = 0;
  while (mine === run) {
    try {
      const first = after === null;
      if (first) after = Math.max(0, (await ask('status')).lastEvent - feedLength);
      const began = Date.now();
      const page = await ask('events', {after, wait: first ? 0 : 25});
      if (mine !== run) return;
      after = page.next;
      tries = 0;
      live('on', 'Live');
      showEvents(page, first || page.missed);
      const loaded = refresh();
      // An answer that brings nothing at once would make this a race.
      if (first) await loaded;
      else if (!page.events.length && Date.now() - began < 1000) await pause(1000);
    } catch (error) {
      if (mine !== run) return;
      failed(error);
      if (error.status === 401) return;
      // By then another server may answer, with different event numbers.
      after = null;
      await pause(Math.min(5000, 500 * 2 ** tries));
      tries += 1;
    }
  }
}

function open() {
  at('tokenForm').hidden = true;
  at('contents').hidden = at('leave').hidden = false;
  feed = [];
  live('wait', 'Connecting');
  follow();
}

function start() {
  prepareFaults();
  at('tokenForm').addEventListener('submit', event => {
    event.preventDefault();
    token = at('token').value.trim();
    sessionStorage.setItem(key, token);
    at('token').value = '';
    open();
  });
  at('leave').addEventListener('click', () => { run += 1; forget(''); });
  at('more').addEventListener('click', () => { state.pages += 1; refresh(); });
  document.querySelector('.skip').addEventListener('click', event => {
    event.preventDefault();
    at('main').focus();
  });
  addEventListener('hashchange', () => {
    if (new URLSearchParams(location.hash.slice(1)).get('token') !== null) {
      takeToken();
      open();
      return;
    }
    state.pages = 1;
    refresh();
  });
  takeToken();
  if (token) open();
  else forget('');
}

start();
