// Accounts and their tokens, and the shares of records.

function prepareAccounts() {
  at('addAccount').addEventListener('submit', async event => {
    event.preventDefault();
    const name = at('accountName').value.trim();
    clearErrors();
    at('accountNote').textContent = '';
    try {
      // The page may not show an account yet that was just added.
      const {accounts} = await ask('accounts');
      const isOld = accounts.some(one => one.account === name);
      await ask('sign-in', null, {account: name});
      at('accountName').value = '';
      at('accountNote').replaceChildren('The account ', nameOf(name),
        isOld ? ' exists already.' : ' was added.');
      refresh();
    } catch (error) {
      at('accountWrong').textContent = error.message;
    }
  });
}

const actingKey = 'cloudsync-acting';

function prepareActing() {
  at('acting').addEventListener('change', () => {
    state.acting = at('acting').value;
    sessionStorage.setItem(actingKey, state.acting);
    // A request of the account before may be held.
    stopLoading();
    refresh();
  });
}

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
  return make('li', {}, make('div', {class: 'line'}, make('span', {class: 'name'}, nameOf(name)),
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
const participantTypes = {
  OWNER: 'owner', ADMINISTRATOR: 'administrator', PRIVATE_USER: 'invited', USER: 'invited',
  PUBLIC_USER: 'joined by the link',
};
const participantRights = {
  READ_WRITE: 'may read and write', READ_ONLY: 'may read', NONE: 'no access',
};
const acceptances = {
  ACCEPTED: 'accepted', PENDING: 'invitation pending', INVITED: 'invitation pending',
  REMOVED: 'removed',
};
const shareType = 'cloudkit.share';
const sharePrefix = 'https:' + '//www.icloud.com/share/';

function buildShare(place, record) {
  const wrong = make('p', {role: 'alert'});
  const attempt = async action => {
    clearErrors();
    try {
      await action();
      return true;
    } catch (error) {
      wrong.textContent = error.message;
      return false;
    }
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
  const isOwn = place.scope === 'private';
  const others = isOwn ? state.accounts.filter(one => one.account !== place.account
    && !people.some(other => userOf(other) === one.userRecordName)) : [];
  const open = make('select', {'aria-label': 'Permission of everybody', on: ['change',
    async () => {
      if (!await update(open.value, people)) open.value = record.publicPermission || 'NONE';
    }]}, ...permissions.map(([value, words]) =>
    make('option', {value, selected: value === record.publicPermission}, words)));
  const who = make('select', {'aria-label': 'Account'},
    ...others.map(({account}) => make('option', {value: account}, account)));
  const invite = button('Invite', 'invite', {}, () => {
    const {userRecordName} = others.find(one => one.account === who.value);
    update(record.publicPermission, [...people, {userIdentity: {lookupInfo: {userRecordName}},
      type: 'USER', permission: 'READ_WRITE', acceptanceStatus: 'INVITED'}]);
  });
  const accept = account => attempt(() => acceptShare(place, record, account));
  const url = make('input', {readonly: true, 'aria-label': 'URL of the share'});
  url.value = record.shortGUID ? sharePrefix + record.shortGUID : 'none';
  const isOpen = record.publicPermission && record.publicPermission !== 'NONE';
  const line = (label, ...content) => make('div', {class: 'edited'},
    make('div', {class: 'label'}, label), ...content);
  return make('div', {class: 'share'},
    line('Shared', make('div', {}, record.forRecord ? linkTo(place, record.forRecord)
      : 'the whole zone')),
    line('URL', make('div', {class: 'stack'}, url, make('p', {class: 'dim'}, urlWords))),
    line('Everybody', open),
    make('ul', {class: 'lines', 'data-none': 'No participants.'}, ...people.map(one =>
      buildParticipant(one, isOwn && one.type !== 'OWNER'
        ? {exclude: name => exclude(name, one), accept} : {}))),
    others.length ? make('div', {class: 'row'}, who, invite, isOpen
      ? button('Accept by the link', 'accept', {}, () => accept(who.value)) : null)
      : isOwn ? make('p', {class: 'dim'}, 'Add another account to invite it.') : null, wrong);
}

const urlWords = 'The URL has the form of Apple’s, but does not lead to this server. To accept the '
  + 'share here, invite an account below and accept as that account. An app fetches the metadata '
  + 'of the URL and accepts that; a web client gives the part after the last slash to '
  + 'records/accept.';

// Accepts a share as another account, and shows it there.
async function acceptShare(place, record, account) {
  const {hash} = location;
  const answer = await serve({...place, scope: 'public', account: '', as: account},
    'records/accept', {shortGUIDs: [{value: record.shortGUID}]});
  const [result] = answer.results;
  if (result.serverErrorCode) throw refusal(result, 400);
  const {zoneName, ownerRecordName} = result.zoneID;
  goFrom(hash, {...zonePlace(place), scope: 'shared', account, zone: zoneName,
    owner: ownerRecordName, record: result.rootRecordName});
}

const userOf = ({userIdentity}) => userIdentity.userRecordName
  || ((userIdentity.lookupInfo || {}).userRecordName) || '';

function buildParticipant(
  {userIdentity, type, permission, acceptanceStatus}, {exclude, accept}) {
  const user = userOf({userIdentity});
  const known = state.accounts.find(one => one.userRecordName === user);
  const names = userIdentity.nameComponents || {};
  const label = (known && known.account) || [names.givenName, names.familyName]
    .filter(Boolean).join(' ') || user || 'unknown';
  const isPending = ['PENDING', 'INVITED'].includes(acceptanceStatus);
  return make('li', {class: 'line'}, make('span', {class: 'name'}, nameOf(label)),
    span('dim', participantTypes[type] || 'of unknown type'),
    span('dim', participantRights[permission] || 'unknown permission'),
    span('end ' + (acceptanceStatus === 'ACCEPTED' ? 'good' : 'warn'),
      acceptances[acceptanceStatus] || 'unknown'),
    accept && known && isPending ? button('Accept as ' + label, 'accept ' + label, {},
      () => accept(known.account)) : null,
    exclude && button('Remove', 'remove ' + label, {'aria-label': 'Remove ' + label},
      () => exclude(label)));
}

async function share(place, record) {
  const {recordName, recordChangeTag} = record;
  const {hash} = location;
  clearErrors();
  try {
    const made = await modify(place, 'create', {recordType: shareType, fields: {},
      forRecord: {recordName, recordChangeTag}, publicPermission: 'NONE', participants: [],
      createShortGUID: true});
    goFrom(hash, {...place, record: made.recordName});
  } catch (error) {
    at('actionWrong').textContent = error.message;
  }
}
