// Devices, faults and administration.

async function order(body, place) {
  const wrong = at(place || 'faultWrong');
  clearErrors();
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
    make('span', {class: 'name dot ' + kind}, nameOf(device.name)),
    make('span', {class: 'dim'}, nameOf(accountLabel(device.account) || 'signed out')),
    device.availability === 'available' ? null : span('warn', device.availability),
    span('dim end', words.join(', ')));
  if (!state.status.faultControl) return make('li', {}, line);
  const name = 'device ' + device.name + ' ' + device.account;
  const body = {action: 'device', device: device.name, account: device.account};
  const choice = make('select', {
    'aria-label': 'Account on ' + device.name, 'data-name': name + ' account',
    on: ['change', async () => {
      if (!await order({...body, availability: choice.value})) choice.value = device.availability;
    }],
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
  ['Expire tokens', 'expire-tokens',
    'Expire all tokens of the zone? Every device fetches it again from the start.'],
  ['Trim tombstones', 'trim-tombstones',
    'Forget the deletions in the zone? Devices with older tokens fetch it again from the start.'],
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
  at('holdPushes').addEventListener('change', async ({target}) => {
    const done = await order({action: target.checked ? 'hold-pushes' : 'release-pushes'});
    if (!done) target.checked = !target.checked;
  });
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
    label, action, {class: 'risky'}, async () => {
      const {container, environment, account, zone} = state.place;
      const name = zone + ' of ' + account + '\n' + container + ', ' + environment;
      if (!await sure(question + '\n' + name, label)) return;
      order({action, container, environment, account, zone}, 'actionWrong');
    })));
}
