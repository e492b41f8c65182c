// Tables of records: chosen columns, sorting, the query and the jump to a record.

const columnKey = 'cloudsync-columns';
let columns = {};
try { columns = JSON.parse(localStorage.getItem(columnKey)) || {}; } catch { columns = {}; }

// The columns of a type: the chosen ones, or the first fields.
function columnsOf(place, type) {
  return own(columns, type) || [...fieldTypesOf(place, type).keys()].slice(0, 6);
}

function choose({place, type}, name, isChosen) {
  const now = new Set(columnsOf(place, type));
  if (isChosen) now.add(name); else now.delete(name);
  const all = [...fieldTypesOf(place, type).keys()];
  columns = {...columns, [type]: all.filter(one => now.has(one))};
  localStorage.setItem(columnKey, JSON.stringify(columns));
  refresh();
}

function sortValue(record, key) {
  if (key === 'recordName') return record.recordName;
  if (key === 'modificationDate') return Number((record.modified || {}).timestamp);
  const field = own(record.fields, key);
  if (!field) return null;
  const number = ['INT64', 'DOUBLE', 'TIMESTAMP'].includes(field.type);
  return number ? Number(field.value) : plain(field.value, field.type);
}

function sorted(records, sort) {
  if (!sort) return records;
  const key = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (typeof one === 'number' ? one - other : one.localeCompare(other));
  };
  return records.map(record => [sortValue(record, key), record])
    .sort(([one], [other]) => compare(one, other)).map(([, record]) => record);
}

function showTables({place, found: {records, newest, more}, error}, fresh) {
  const types = new Map();
  for (const record of records) {
    if (!types.has(record.recordType)) types.set(record.recordType, []);
    types.get(record.recordType).push(record);
  }
  const ordered = [...types].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = ordered.map(([type, records]) => ({
    type, place: zonePlace(place), asked: place.type, where: place.where,
    sort: place.sort, columns: columnsOf(place, type),
    known: [...fieldTypesOf(place, type).keys()],
    isPart: Boolean(more && place.sort && !place.type),
    rows: (place.type ? records : sorted(records, place.sort)).map(record => ({
      record, newest: record.recordName === newest,
    })),
  }));
  at('tables').dataset.none = !place || !place.zone || error ? ''
    : place.type ? 'No record matches.' : 'No records here. “New record” creates the first one.';
  fill(at('tables'), rows, row => row.type, (row, old) => buildTable(row, old, fresh));
}

function buildTable(table, old, fresh) {
  const {type, known, rows} = table;
  const chooser = make('details', {class: 'chooser'},
    make('summary', {'data-name': 'columns ' + type}, 'Columns'),
    make('div', {class: 'row'}, ...known.map(name => {
      const box = make('input', {type: 'checkbox', 'data-name': 'column ' + type + name,
        checked: table.columns.includes(name),
        on: ['change', event => choose(table, name, event.target.checked)]});
      return make('label', {class: 'check'}, box, make('bdi', {}, name));
    })));
  chooser.open = Boolean(old && old.querySelector('details[open]'));
  const heads = ['recordName', ...table.columns, 'modificationDate'];
  const words = {recordName: 'Record', modificationDate: 'Modified'};
  return make('section', {class: 'table'},
    make('div', {class: 'line'}, make('h4', {}, make('bdi', {}, type)),
      span('count', String(rows.length)), known.length ? chooser : null,
      table.isPart ? buildPartNote(table) : null),
    make('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Records of type '
      + type}, make('table', {},
      make('thead', {}, make('tr', {},
        ...heads.map(name => buildHead(table, name, own(words, name) || name)))),
      make('tbody', {}, ...rows.map(row => buildRow(table, row,
        fresh.has(row.record.recordName)))))));
}

// Only the server knows the order of records that are not loaded.
function buildPartNote({type, place, sort, rows}) {
  return make('span', {class: 'warn'}, 'sorted among the ' + rows.length + ' loaded records ',
    button('Sort all by a query', 'sort all ' + type, {}, () => go({...place, type, sort})));
}

function buildHead({type, place, asked, where, sort}, name, label) {
  const now = sort === name ? 'ascending' : sort === '-' + name ? 'descending' : null;
  const next = now === 'ascending' ? '-' + name : now ? '' : name;
  const mark = {ascending: ' ▲', descending: ' ▼'}[now] || '';
  return make('th', {scope: 'col', 'aria-sort': now}, button(label + mark,
    'sort ' + type + ' ' + name, {class: 'plain'},
    () => go({...place, type: asked, where, sort: next})));
}

function buildRow({place, columns}, {record, newest}, fresh) {
  const modified = (record.modified || {}).timestamp;
  const target = address({...place, record: record.recordName});
  return make('tr', {class: [newest && 'newest', fresh && 'fresh'].filter(Boolean).join(' ')},
    make('th', {scope: 'row'}, make('a', {href: target, 'data-name': target},
      nameOf(record.recordName)),
    newest ? span('tag now', 'newest') : null),
    ...columns.map(name => {
      const field = own(record.fields, name);
      const number = field && ['INT64', 'DOUBLE'].includes(field.type);
      return make('td', {class: number ? 'number' : null},
        field ? make('bdi', {}, cut(plain(field.value, field.type), 80)) : null);
    }),
    make('td', {class: 'number'}, modified === undefined ? '' : clock(modified)));
}

// The query, the jump to a record and the button for a new one, all of one zone. As soon as another
// zone is chosen they are for that one, and what is typed while it loads stays.
function showFinder(place) {
  const finder = at('finder');
  finder.place = place;
  finder.hidden = !place || !place.zone || Boolean(place.record);
  options(at('queryType'), [...new Set([...(place && place.type ? [place.type] : []),
    ...(place ? typesIn(place).keys() : [])])], 'any type');
  const mark = place ? address(place) : '';
  if (finder.mark === mark) return;
  finder.mark = mark;
  at('queryType').value = (place && place.type) || '';
  at('where').value = (place && place.where) || '';
}

// The record types that a predicate without a type can mean: the only one, or those with its
// fields.
function typesFor(place, where) {
  const types = [...new Set([...typesIn(place).keys(),
    ...state.schema.recordTypes.map(one => one.recordType)])];
  const names = new PredicateReader(where, new Map()).filters()
    .map(filter => filter.fieldName).filter(Boolean);
  const fitting = types.filter(type => names.every(name =>
    fieldTypesOf(place, type).has(name) || schemaField(type, name)));
  return fitting.length ? fitting : types;
}

function prepareFinder() {
  const finder = at('finder');
  at('search').addEventListener('submit', event => {
    event.preventDefault();
    clearErrors();
    const where = at('where').value.trim();
    let fitting = at('queryType').value ? [at('queryType').value] : [];
    if (where && !fitting.length) {
      try { fitting = typesFor(finder.place, where); } catch (error) {
        at('actionWrong').textContent = error.message;
        at('where').focus();
        return;
      }
    }
    if (where && fitting.length !== 1) {
      at('actionWrong').textContent = 'A query is for one record type: choose '
        + (fitting.length ? 'one of ' + fitting.join(', ') : 'it') + '.';
      at('queryType').focus();
      return;
    }
    const type = fitting[0] || '';
    state.pages = 1;
    go({...zonePlace(finder.place), type, where: type && where,
      sort: type ? finder.place.sort : ''});
  });
  at('queryType').addEventListener('change', () => {
    if (!at('queryType').value && !at('where').value.trim()) go(zonePlace(finder.place));
  });
  at('jump').addEventListener('submit', event => {
    event.preventDefault();
    const record = at('recordName').value;
    if (record) go({...zonePlace(finder.place), record});
    at('recordName').value = '';
  });
  at('create').addEventListener('click', () => openForm(zonePlace(finder.place), null));
  for (const id of ['newZone', 'firstZone']) {
    at(id).addEventListener('click', async () => { if (await mayClose()) openZoneForm(); });
  }
}

// Whether the open form was edited.
function isEdited() {
  const form = at('form').firstElementChild;
  return Boolean(form && form.isEdited());
}

// Asks before an edit is lost.
async function mayClose() {
  return !isEdited() || sure('Discard the changes in this form?', 'Discard');
}

// The form for a new record or a changed one; a refresh leaves it alone.
function openForm(place, record) {
  showForm(recordForm(place, record, [...typesIn(place).keys()], saved => {
    closeForm(record ? at('recordView').querySelector('[data-name=edit]')
      : saved ? at('main') : at('create'));
    if (saved) go({...place, record: saved.recordName});
  }));
}

function showForm(form) {
  at('form').replaceChildren(form);
  at('reading').hidden = true;
  form.querySelector('input, textarea, select, button').focus();
}

// Closes the open form; the focus in it goes to `next`.
function closeForm(next) {
  const form = at('form').firstElementChild;
  if (!form) return;
  const focused = document.activeElement;
  form.remove();
  at('reading').hidden = false;
  if (form.contains(focused) || focused === document.body) (next || at('main')).focus();
}
