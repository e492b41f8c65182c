// Accounts and their tokens, and the shares of records.

function prepareAccounts() {
  at('addAccount').addEventListener('submit', async event => {
    event.preventDefault();
    const name = at('accountName').value.trim();
    at('accountWrong').textContent = '';
    try {
      await ask('sign-in', null, {account: name});
      at('accountName').value = '';
      refresh();
    } catch (error) {
      at('accountWrong').textContent = error.message;
    }
  });
  at('acting').addEventListener('change', () => {
    state.acting = at('acting').value;
    sessionStorage.setItem(actingKey, state.acting);
    refresh();
  });
}

const actingKey = 'cloudsync-acting';

function showActing() {
  const names = state.accounts.map(account => account.account);
  if (!names.includes(state.acting)) state.acting = sessionStorage.getItem(actingKey) || '';
  if (!names.includes(state.acting)) state.acting = names[0] || '';
  options(at('acting'), names);
  at('acting').value = state.acting;
  at('actingLine').hidden = !names.length;
}

function buildAccount(account) {
  const token = make('div', {class: 'row'});
  const name = account.account;
  return make('li', {}, make('div', {class: 'line'}, make('bdi', {class: 'name'}, name),
    account.quota === undefined ? null : span('dim', 'at most ' + size(account.quota)),
    make('span', {class: 'end'}, button('Web token', 'token ' + name,
      {'aria-label': 'Web token of ' + name}, () => showToken(name, token)))),
  make('div', {class: 'dim name small'}, account.userRecordName), token);
}

async function showToken(account, place) {
  try {
    const {webAuthToken} = await ask('sign-in', null, {account});
    const input = make('input', {readonly: true, 'aria-label': 'Token of ' + account});
    input.value = webAuthToken;
    const copy = button('Copy', 'copy ' + account, {}, async () => {
      input.select();
      // Without a secure connection there is no clipboard; the text is selected then.
      if (navigator.clipboard) {
        await navigator.clipboard.writeText(webAuthToken)
          .then(() => { copy.textContent = 'Copied'; }, () => {});
      }
    });
    place.replaceChildren(input, copy);
    input.select();
  } catch (error) {
    place.replaceChildren(make('p', {role: 'alert'}, error.message));
  }
}

// The panel of a share: its URL, what everybody may do, its participants, and its acceptance.

const permissions = [
  ['NONE', 'only invited people'], ['READ_ONLY', 'everybody with the link may read'],
  ['READ_WRITE', 'everybody with the link may write'],
];
const shareType = 'cloudkit.share';
const sharePrefix = 'https:' + '//www.icloud.com/share/';

function buildShare(place, record) {
  const wrong = make('p', {role: 'alert'});
  const attempt = async action => {
    wrong.textContent = '';
    try { await action(); } catch (error) { wrong.textContent = error.message; }
  };
  const update = (publicPermission, participants) => attempt(async () => {
    const {recordName, recordType, recordChangeTag, forRecord} = record;
    await modify(place, 'update', {recordName, recordType, recordChangeTag, forRecord,
      publicPermission, participants, fields: {}});
    refresh();
  });
  const people = record.participants || [];
  const exclude = async (name, one) => {
    if (!await sure('Remove ' + name + ' from the share?', 'Remove')) return;
    update(record.publicPermission, people.filter(other => other !== one));
  };
  const others = state.accounts.filter(one => one.account !== place.account);
  const open = make('select', {'aria-label': 'Permission of everybody', on: ['change', event =>
    update(event.target.value, people)]}, ...permissions.map(([value, words]) =>
    make('option', {value, selected: value === record.publicPermission}, words)));
  const who = make('select', {'aria-label': 'Account'},
    ...others.map(({account}) => make('option', {value: account}, account)));
  const invite = button('Invite', 'invite', {}, () => {
    const {userRecordName} = others.find(one => one.account === who.value);
    update(record.publicPermission, [...people, {userIdentity: {lookupInfo: {userRecordName}},
      type: 'USER', permission: 'READ_WRITE', acceptanceStatus: 'INVITED'}]);
  });
  const accept = button('Accept', 'accept', {class: 'strong'}, () => attempt(async () => {
    const answer = await serve({...place, scope: 'public', account: '', as: who.value},
      'records/accept', {shortGUIDs: [{value: record.shortGUID}]});
    const [result] = answer.results;
    if (result.serverErrorCode) throw refusal(result, 400);
    const {zoneName, ownerRecordName} = result.zoneID;
    go({...zonePlace(place), scope: 'shared', account: who.value, zone: zoneName,
      owner: ownerRecordName, record: result.rootRecordName});
  }));
  const url = make('input', {readonly: true, 'aria-label': 'URL of the share'});
  url.value = record.shortGUID ? sharePrefix + record.shortGUID : 'none';
  return make('div', {class: 'share'},
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'URL'), url),
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Everybody'), open),
    make('ul', {class: 'lines', 'data-none': 'No participants.'}, ...people.map(one =>
      buildParticipant(one, place.scope === 'private' && one.type !== 'OWNER'
        ? name => exclude(name, one) : null))),
    others.length ? make('div', {class: 'row'}, who, invite, accept)
      : make('p', {class: 'dim'}, 'Add another account to invite it.'), wrong);
}

function buildParticipant({userIdentity, type, permission, acceptanceStatus}, exclude) {
  const user = userIdentity.userRecordName
    || ((userIdentity.lookupInfo || {}).userRecordName) || '';
  const known = state.accounts.find(one => one.userRecordName === user);
  const names = userIdentity.nameComponents || {};
  const label = (known && known.account) || [names.givenName, names.familyName]
    .filter(Boolean).join(' ') || user || 'unknown';
  return make('li', {class: 'line'}, make('bdi', {class: 'name'}, label),
    ...[type, permission].map(word => span('dim', word.toLowerCase().replace('_', ' '))),
    span('end ' + (acceptanceStatus === 'ACCEPTED' ? 'good' : 'warn'),
      acceptanceStatus.toLowerCase()),
    exclude && button('Remove', 'remove ' + label, {'aria-label': 'Remove ' + label},
      () => exclude(label)));
}

async function share(place, record) {
  const {recordName, recordChangeTag} = record;
  try {
    const made = await modify(place, 'create', {recordType: shareType, fields: {},
      forRecord: {recordName, recordChangeTag}, publicPermission: 'NONE', participants: [],
      createShortGUID: true});
    go({...place, record: made.recordName});
  } catch (error) {
    at('wrong').textContent = error.message;
  }
}
