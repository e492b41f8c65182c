// The event feed, and the start of the page.

const feedLength = 200;
let feed = [];
let run = 0;

// The load that runs: how to end it, when it ends, and whether another one is to follow.
let loading = null;

function refresh() {
  if (!token) return null;
  if (loading) { loading.again = true; return loading.end; }
  const mine = loading = {controller: new AbortController(), again: false};
  const {signal} = mine.controller;
  mine.end = load(signal).then(endLoading, error => { if (!signal.aborted) failed(error); })
    .finally(() => {
      if (loading !== mine) return;
      loading = null;
      if (mine.again) refresh();
    });
  return mine.end;
}

// Ends the load that runs, which may wait for long: something else is to be shown.
function stopLoading() {
  if (loading) loading.controller.abort();
  loading = null;
}

// Whether the page shows what the server has. Until it did so once, empty lists say that they are
// loading.
let isCurrent = false;

function endLoading() {
  isCurrent = true;
  delete at('contents').dataset.loading;
  live('on', 'Live');
}

// Changes that come quickly are shown once a second.
let shown = 0;
let planned = null;

function refreshSoon(delay = Math.max(0, shown + 1000 - Date.now())) {
  if (planned) return;
  planned = setTimeout(() => {
    planned = null;
    shown = Date.now();
    refresh();
  }, delay);
}

function failed(error) {
  if (error.status === 401) { forget('The server does not know this token.'); return; }
  if (error instanceof Refused && !isOutage(error)) {
    endLoading();
    at('wrong').textContent = error.message;
    return;
  }
  isCurrent = false;
  live('wait', error instanceof Unreachable ? 'Connection lost, trying again'
    : (error instanceof Refused ? 'The server refuses: ' : 'The page failed: ') + error.message);
  refreshSoon(5000);
}

function buildEvent(event) {
  const line = make('span', {class: 'line'}, clock(event.time));
  if (event.kind === 'request') {
    const {device, kind, itemCount, outcome, code, refusedItems} = event.request;
    line.append(make('span', {class: 'name'}, nameOf(device)), make('span', {}, kind),
      itemCount === 1 ? '' : span('dim', '× ' + itemCount),
      outcome === 'failed' ? span('bad end', code)
        : refusedItems ? span('bad end', outcome) : span('good end', 'ok'));
  } else if (event.kind === 'push') {
    const {device, subscriptionID, fate} = event.push;
    line.append(make('span', {class: 'name'}, '→ ', nameOf(device)),
      make('span', {class: 'dim'}, 'push ', nameOf(subscriptionID)),
      fate === 'delivered' ? '' : span('warn end', fate));
  } else if (event.kind === 'administration') {
    const {account, container} = event.administration;
    line.append(span('warn', 'administration'),
      span('dim end', [accountLabel(account), container].filter(Boolean).join(' · ')));
  } else {
    line.append(span('warn', event.kind));
  }
  return make('li', {}, make('details', {}, make('summary', {'data-name': 'event '
    + event.number}, line), buildDetails(event)));
}

// The parts of an event, by name.
function buildDetails({number, kind, request, push, administration}) {
  const {outcome, code, itemCount, milliseconds, ...parts} = request || {};
  const rows = request ? {
    operation: parts.kind, items: itemCount, outcome: outcome + (code ? ': ' + code : ''),
    duration: milliseconds === undefined ? undefined : milliseconds + ' ms',
    device: parts.device, account: accountLabel(parts.account), container: parts.container,
    environment: parts.environment, database: parts.database, 'request ID': parts.requestID,
  } : {event: number, kind, ...push, ...administration};
  return make('dl', {class: 'details'}, ...Object.entries(rows)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => make('div', {}, make('dt', {}, name),
      make('dd', {}, nameOf(value)))));
}

const feedKinds = {
  all: () => true, requests: ({kind}) => kind === 'request', pushes: ({kind}) => kind === 'push',
  failures: ({request, push}) => (request && (request.outcome === 'failed'
    || request.refusedItems)) || (push && push.fate !== 'delivered'),
};

function showFeed() {
  fill(at('feed'), feed.filter(feedKinds[at('feedKind').value]), event => event.number,
    buildEvent);
}

const isOwnReading = ({kind, request}) => kind === 'request' && request.device === ownDevice
  && !request.kind.startsWith('modify') && request.kind !== 'acceptShares';

function showEvents(page, anew) {
  if (anew) feed = [];
  feed = page.events.slice().reverse().concat(feed).slice(0, feedLength);
  showFeed();
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
      if (isCurrent) live('on', 'Live');
      showEvents(page, first || page.missed);
      if (first) {
        refresh();
        continue;
      }
      // The console's own reading changes nothing.
      if (!page.events.length || !page.events.every(isOwnReading)) refreshSoon();
      // An answer that brings nothing at once would make this a race.
      if (!page.events.length && Date.now() - began < 1000) await pause(1000);
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

// The contents of the page before any of a server.
const blank = at('contents').cloneNode(true);

// Ends all that goes on with the token, and shows nothing of what it gave.
function clear() {
  run += 1;
  stopLoading();
  clearTimeout(planned);
  planned = null;
  isCurrent = false;
  feed = [];
  forgetAnswers();
  seenTypes.clear();
  Object.assign(state, emptyState());
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  at('totals').textContent = at('said').textContent = '';
  options(at('acting'), []);
  at('contents').replaceWith(blank.cloneNode(true));
  prepareFaults();
  prepareFinder();
  prepareAccounts();
  prepareData();
}

function forget(reason) {
  clear();
  sessionStorage.removeItem(key);
  token = '';
  at('leave').hidden = at('actingLine').hidden = true;
  at('tokenForm').hidden = false;
  at('refused').textContent = reason;
  live('off', 'Not connected');
  at('token').value = '';
  at('token').focus();
}

function open() {
  clear();
  at('tokenForm').hidden = true;
  at('contents').hidden = at('leave').hidden = at('actingLine').hidden = false;
  at('contents').dataset.loading = '';
  live('wait', 'Loading');
  follow();
}

async function changeAddress({oldURL}) {
  if (isEdited()) {
    const target = location.hash;
    history.replaceState(null, '', new URL(oldURL).hash || location.pathname);
    if (!await mayClose()) return;
    closeForm();
    location.hash = target;
  } else if (givenToken() !== undefined) {
    takeToken();
    open();
  } else {
    Object.assign(state, {pages: 1, changeCount: firstChanges});
    clearErrors();
    closeForm();
    showFinder(chosen());
    stopLoading();
    refresh();
  }
}

function start() {
  prepareActing();
  at('tokenForm').addEventListener('submit', event => {
    event.preventDefault();
    token = at('token').value.trim();
    sessionStorage.setItem(key, token);
    at('token').value = '';
    open();
  });
  at('leave').addEventListener('click', async () => { if (await mayClose()) forget(''); });
  document.querySelector('.skip').addEventListener('click', event => {
    event.preventDefault();
    at('main').focus();
  });
  addEventListener('beforeunload', event => { if (isEdited()) event.preventDefault(); });
  addEventListener('hashchange', changeAddress);
  takeToken();
  if (token) open();
  else forget('');
}

start();
