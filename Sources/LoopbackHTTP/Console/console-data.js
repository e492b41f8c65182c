// The schema with its indexes, and the data as a whole: export, import and reset.

const indexNames = ['queryable', 'sortable', 'searchable'];

function showSchema({recordTypes, isClosed}) {
  at('schemaNote').textContent = isClosed ? 'Closed: saves can add no types and fields.' : '';
  const {container, environment} = state.place || {};
  fill(at('schema'), recordTypes.map(type => ({...type, container, environment,
    mayChange: state.status.faultControl})), type => type.recordType, buildType);
}

function buildType({recordType, fields, container, environment, mayChange}, old) {
  const shown = fields.filter(field => field.kind || !field.queryable || !field.sortable);
  const element = make('details', {},
    make('summary', {'data-name': 'schema ' + recordType}, make('bdi', {}, recordType),
      span('count', ' ' + shown.length + (shown.length === 1 ? ' field' : ' fields'))),
    make('div', {class: 'wide'}, make('table', {}, make('thead', {}, make('tr', {},
      ...['Field', 'Type', ...indexNames].map(name => make('th', {scope: 'col'}, name)))),
    make('tbody', {}, ...shown.map(field => make('tr', {},
      make('th', {scope: 'row'}, make('bdi', {}, field.name)),
      make('td', {}, (field.kind || 'system')
        + (field.element ? ' of ' + field.element : '') + (field.isEncrypted ? ', encrypted' : '')),
      ...indexNames.map(index => make('td', {}, make('input', {type: 'checkbox',
        'aria-label': recordType + '.' + field.name + ' is ' + index, checked: field[index],
        'data-name': 'index ' + recordType + ' ' + field.name + ' ' + index,
        disabled: !mayChange, on: ['change', event => setIndexes(event.target,
          {container, environment, recordType, field: field.name})]})))))))));
  element.open = Boolean(old && old.open);
  return element;
}

// Sends what all boxes of the field say: one of them may have changed a moment ago.
async function setIndexes(box, names) {
  const boxes = [...box.closest('tr').querySelectorAll('input')];
  const indexes = Object.fromEntries(indexNames.map((name, index) => [name, boxes[index].checked]));
  const done = await order({action: 'set-indexes', ...names, ...indexes}, 'actionWrong');
  if (!done) box.checked = !box.checked;
}

// A request with a body or an answer that is no JSON.
async function askText(path, body) {
  const answer = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST', body, cache: 'no-store', credentials: 'omit',
    headers: {authorization: 'Bearer ' + token,
      ...body === undefined ? {} : {'content-type': 'text/plain'}},
  });
  if (answer.ok) return answer;
  const {reason} = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, reason || 'status ' + answer.status);
}

function prepareData() {
  const controls = ['export', 'import', 'reset'].map(at);
  const attempt = async (now, words, action) => {
    clearErrors();
    at('dataNote').textContent = now;
    for (const one of controls) one.disabled = true;
    try {
      await action();
      at('dataNote').textContent = words;
    } catch (error) {
      at('dataNote').textContent = '';
      at('dataWrong').textContent = error.message;
    } finally {
      for (const one of controls) one.disabled = false;
      refresh();
    }
  };
  at('export').addEventListener('click', () => attempt('Exporting …', 'Exported.', async () => {
    const answer = await askText('export');
    download(await answer.blob(), 'cloudsync-archive.jsonl');
  }));
  at('import').addEventListener('change', event => {
    const [file] = event.target.files;
    event.target.value = '';
    if (!file) return;
    const words = file.name + ' (' + size(file.size) + ')';
    attempt('Importing ' + words + ' …', 'Imported ' + words + '.',
      async () => {
        await askText('import', file);
        forgetAnswers();
      });
  });
  at('reset').addEventListener('click', async () => {
    if (!await sure('Delete all accounts, records and files of this server?', 'Reset')) return;
    attempt('Deleting …', 'The server is empty.', async () => {
      await ask('reset', null, {});
      forgetAnswers();
      location.hash = '';
    });
  });
  at('feedKind').addEventListener('change', () => showFeed());
  at('more').addEventListener('click', () => { state.pages += 1; refresh(); });
  at('moreChanges').addEventListener('click', () => {
    state.changeCount = Math.min(5 * state.changeCount, mostChanges);
    refresh();
  });
}
