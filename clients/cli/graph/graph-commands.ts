import { createReadStream } from 'node:fs'
import { type Command, Option } from 'commander'
import * as z from 'zod'
import { GRAPH_ROUTES, type ItemResult } from '../../../shared/api/graph-routes.ts'
import { type Entity, entityType } from '../../../shared/graph/entity.ts'
import { WRITE_BATCH } from '../../../shared/graph/graph-store.ts'
import type { Candidate } from '../../../shared/research/payloads/candidate-and-evidence.ts'
import { splitLines } from '../../../shared/text/split-lines.ts'
import type { paths } from '../../api/schema.generated.ts'
import { callApi, callWithRetries, chooseTarget, commandLine, type Target } from '../server/api.ts'
import { answerEachLine, lineId, NdjsonLineSchema } from '../terminal/answer-ndjson-lines.ts'
import { readablePath } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withTargetOptions } from '../terminal/options.ts'
import { type GraphOptions, withFormatOption } from '../terminal/print-graph.ts'
import { Refused, reasonLines, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine, plainText } from '../terminal/text.ts'
import type { ImportedFolder } from './import-files.ts'
import {
  IMPORT_FORMS,
  type Imported,
  type ImportForm,
  type ImportHow,
  importGraph,
  mostBatchBytes,
} from './import-graph.ts'

export function addGraph(parent: Command, session: Session): void {
  const graph = parent.command('graph').description('draw a document, without a server; or the knowledge graph of one')
  addGraphCommands(graph.enablePositionalOptions(), session)
  withFormatOption(graph)
    .argument('<file>')
    .action(async (file: string, options: GraphOptions) => {
      const { drawDocument } = await import('../documents/compile-and-draw.ts')
      await drawDocument(session, file, options)
    })
}

/** The knowledge graph of a server. A document of one of these names is drawn as `graph ./import`. */
function addGraphCommands(graph: Command, session: Session): void {
  for (const add of [addGraphImport, addGraphSearch, addGraphEval, addGraphShow, addGraphNeighbors, addGraphDelete])
    add(graph, session)
}

interface SearchOptions extends TargetOptions {
  readonly type?: string
  readonly domain?: string
  readonly linked?: true
  readonly limit?: number
  readonly ndjson?: true
}

function addGraphSearch(graph: Command, session: Session): void {
  withTargetOptions(graph.command('search').description('entities by words, best first'))
    .argument('[words...]', '"words in double quotes" stand together, but in a question; none: the newest')
    .option('--type <type>', 'only entities of this type')
    .option('--domain <domain>', 'only entities whose id has this third segment')
    .option('--linked', 'also what these and the things they name are linked to')
    .option('--limit <n>', 'at most this many, 1 to 1000 (default: 20)', wholeNumber(1, 1_000))
    .option('--ndjson', 'lines {"id","query","limit"} on stdin, a line {"id","hits"} each')
    .action((words: readonly string[], options: SearchOptions) => graphSearch(session, words, options))
}

async function graphSearch(session: Session, words: readonly string[], options: SearchOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const { type, domain, linked, limit } = options
  const narrowed = {
    ...(type !== undefined && { type }),
    ...(domain !== undefined && { domain }),
    ...(linked === true && { ranking: 'linked' as const }),
  }
  if (options.ndjson === true) {
    if (words.length > 0) throw usageError('With --ndjson the words come as lines on stdin, not as arguments.')
    await graphSearchLines(session, (query, most) =>
      searchGraph(target, { ...narrowed, q: query, limit: most ?? limit ?? 20 }),
    )
    return
  }
  const answer = await searchGraph(target, { ...narrowed, q: words.join(' '), limit: limit ?? 20 })
  if (options.json === true) return session.say(jsonText(answer, 2))
  for (const { written, meant } of answer.did_you_mean ?? [])
    session.say(oneLine(`Did you mean ${meant.join(' or ')}? Nothing has the word ${written}.`))
  if (answer.hits.length === 0) return session.say('Nothing found.')
  for (const line of answer.hits.flatMap((hit) => hitLines(hit, session.size().columns))) session.say(line)
}

type Answer = (typeof GRAPH_ROUTES)['search-graph']['answer']['_output']

type Query = NonNullable<paths['/api/graph/search']['get']['parameters']['query']>

function searchGraph(target: Target, query: Query): Promise<Answer> {
  return callApi(target, GRAPH_ROUTES['search-graph'].answer.loose(), (api) =>
    api.GET('/api/graph/search', { params: { query } }),
  )
}

function hitLines(
  { entity_id, label, type, relevance, snippet_text = '' }: Answer['hits'][number],
  columns: number,
): readonly string[] {
  const score = relevance === undefined ? '' : relevance.toFixed(3).padStart(8)
  const name = [oneLine(label ?? entity_id), ...(type === undefined ? [] : [`(${oneLine(type)})`])].join(' ')
  const more = snippet_text === '' ? [] : [`${' '.repeat(10)}${oneLine(snippet_text)}`]
  return [`${score}  ${name}  ${oneLine(entity_id)}`, ...more].map((line) => cut(line, columns))
}

type Search = (query: string, limit?: number) => Promise<{ readonly hits: readonly Candidate[] }>

/**
 * `sluice graph search --ndjson`: a line {"id","query","limit"?} in, a line {"id","hits":[{"entity_id","score",
 * "source"}]} out, in the same order and at once. A line that cannot be read, or a query the server refuses, is answered
 * with {"id","error":{"code","message"}}; the rest goes on.
 */
async function graphSearchLines(session: Session, search: Search): Promise<void> {
  await answerEachLine(session, (value, number) => answer(value, number, search))
}

const LineSchema = NdjsonLineSchema.extend({ query: z.string(), limit: z.int().min(1).max(1_000).optional() })

async function answer(value: unknown, number: number, search: Search) {
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "query": string, "limit"?: 1 to 1000} is needed.`
    return { id: lineId(value), error: { code: 'malformed_line', message } }
  }
  const { id, query, limit } = asked.data
  try {
    const { hits } = await search(query, limit)
    return { id, hits: hits.map(({ entity_id, relevance = 0, source }) => ({ entity_id, score: relevance, source })) }
  } catch (error) {
    // A server that is not there answers no other line either.
    if (!(error instanceof Refused) || error.status === undefined) throw error
    return { id, error: { code: error.reason.code, message: error.reason.detail } }
  }
}

interface EvalOptions extends TargetOptions {
  readonly answers?: true
  readonly budget?: number
}

function addGraphEval(graph: Command, session: Session): void {
  withTargetOptions(graph.command('eval').description('how well questions with known answers are ranked'))
    .argument('<file>', 'a line {"question","relevant":[ids]} each (docs/research.md); - reads stdin')
    .option(
      '--answers',
      'also the evidence of answers: a research run each; with embeddings, the weight they should have',
    )
    .option(
      '--budget <tokens>',
      'with --answers: of each run (default: as research ask)',
      wholeNumber(0, 1_000_000_000),
    )
    .action(async (file: string, options: EvalOptions) => {
      if (options.budget !== undefined && options.answers !== true) throw usageError('--budget goes with --answers.')
      const { evalGraph } = await import('./eval-graph.ts')
      await evalGraph(session, file, options)
    })
}

function addGraphShow(graph: Command, session: Session): void {
  withTargetOptions(graph.command('show').description('one entity with all it states'))
    .argument('<entity-id>')
    .action((id: string, options: TargetOptions) => show(session, id, options))
}

async function show(session: Session, id: string, { url, json }: TargetOptions): Promise<void> {
  const { entity } = await callApi(chooseTarget(session, url), GRAPH_ROUTES['get-entity'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}', { params: { path: { entity_id: id } } }),
  )
  if (json === true) session.say(jsonText(entity, 2))
  else for (const line of entityLines(entity)) session.say(line)
}

function entityLines(entity: Entity): readonly string[] {
  const { entity_id, label, aliases = [], snippet, objectstore_ref, time, geo, triples = [] } = entity
  return [
    `${oneLine(label ?? entity_id)} (${oneLine(entityType(entity))})  ${entity_id}`,
    ...(aliases.length === 0 ? [] : [`also: ${aliases.map(oneLine).join(', ')}`]),
    ...(geo === undefined ? [] : [`at: ${geo.lat}, ${geo.lon}`]),
    ...(time === undefined ? [] : [`time: ${time}`]),
    ...(objectstore_ref === undefined ? [] : [`body: ${objectstore_ref}`]),
    ...(snippet === undefined ? [] : [plainText(snippet)]),
    ...triples.map(
      ({ predicate, object, source }) => `  ${predicate}  ${oneLine(String(object))}  (${oneLine(source)})`,
    ),
  ]
}

interface NeighborsOptions extends TargetOptions {
  readonly direction?: 'in' | 'out' | 'both'
  readonly depth?: number
  readonly predicate?: readonly string[]
  readonly stated?: boolean
  readonly limit?: number
}

function addGraphNeighbors(graph: Command, session: Session): void {
  withTargetOptions(graph.command('neighbors').description('what an entity states of others, and others of it'))
    .argument('<entity-id>')
    .addOption(
      new Option('--direction <way>', 'what it states, or what is stated of it').choices(['in', 'out', 'both']),
    )
    .option('--depth <n>', 'hops, 1 to 3 (default: 1)', wholeNumber(1, 3))
    .option('--predicate <name>', 'only edges of this; repeat it', (name, names: string[] = []) => [...names, name])
    .option('--stated', 'only what is stated, without what texts mention')
    .option('--limit <n>', 'edges at most, 1 to 1000 (default: 100)', wholeNumber(1, 1_000))
    .action((id: string, options: NeighborsOptions) => neighbors(session, id, options))
}

async function neighbors(session: Session, id: string, options: NeighborsOptions): Promise<void> {
  const { url, json, direction, depth, limit, predicate, stated } = options
  const query = {
    ...(direction !== undefined && { direction }),
    ...(depth !== undefined && { depth }),
    ...(limit !== undefined && { limit }),
    ...(stated === true && { mentions: 'none' as const }),
    ...(predicate !== undefined && { predicate: [...predicate] }),
  }
  const params = { path: { entity_id: id }, query }
  const answer = await callApi(chooseTarget(session, url), GRAPH_ROUTES['get-neighbors'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}/neighbors', { params }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const labels = new Map(answer.entities.map(({ entity_id, label }) => [entity_id, label]))
  const named = (one: string) => oneLine(labels.get(one) ?? one)
  if (answer.edges.length === 0) return session.say('No edges.')
  for (const { subject, predicate: says, object, depth, places = [] } of answer.edges) {
    const where = places.slice(0, 1).map((place) => `  (${oneLine(place.in)} ${place.start}-${place.end})`)
    const line = `${depth}  ${named(subject)}  ${oneLine(says)}  ${named(object)}${where.join('')}`
    session.say(cut(line, session.size().columns))
  }
  if (answer.truncated) session.say('There is more: raise --limit, or name a --predicate or a --direction.')
}

interface ImportOptions extends TargetOptions {
  readonly from: ImportForm
  readonly fromLine?: number
  readonly collection?: string
  readonly remove?: true
  readonly all?: true
}

function addGraphImport(graph: Command, session: Session): void {
  withTargetOptions(graph.command('import').description('put entities and triples of a file into the graph'))
    .argument('<file>', 'an entity or a triple a line (docs/research.md); - reads stdin; with --from files a folder')
    .addOption(
      new Option(
        '--from <form>',
        'semstreams: its entity states, a JSON list or one a line; files: Markdown, text, HTML and PDF of a folder',
      )
        .choices(IMPORT_FORMS)
        .default('sluice'),
    )
    .option('--collection <name>', "with --from files: a segment of its ids (default: the folder's name)")
    .option('--remove', 'with --from files: delete what was imported of files that are gone')
    .option('--all', 'with --from files: send what did not change too')
    .option('--from-line <n>', 'go on from this line; of a JSON list, from this item', wholeNumber(1, 1_000_000_000))
    .action((file: string, options: ImportOptions) => graphImport(session, file, options))
}

async function graphImport(session: Session, file: string, options: ImportOptions): Promise<void> {
  refuseStray(options)
  const target = chooseTarget(session, options.url)
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop)
  const progress = showProgress(session, options.json === true)
  const mostBytes = await mostBatchBytes(target)
  const how = { ...(mostBytes !== undefined && { mostBytes }), signal: stopped.signal, progress: progress.show }
  const imported = await (options.from === 'files'
    ? folderImport(target, file, options, how)
    : lineImport(target, file, options.from, { ...how, from: options.fromLine ?? 1 }))
  process.off('SIGINT', stop)
  progress.end()
  if (options.json === true) session.say(jsonText(asJson(imported), 2))
  else sayImported(session, imported)
  sayStopped(session, target, `graph import ${file}`, options, imported)
  process.exitCode = imported.stopped === undefined && imported.refused === 0 ? 0 : 1
}

function sayStopped(
  session: Session,
  target: Target,
  command: string,
  { from }: ImportOptions,
  { stopped, next_line }: Imported,
): void {
  if (stopped === undefined) return
  for (const line of reasonLines(stopped.reason, session.settings.command)) session.warn(line)
  const form = from === 'sluice' ? '' : ` --from ${from}`
  const line = from === 'files' ? '' : ` --from-line ${next_line}`
  session.warn(`What was sent is in the graph. Go on with: ${commandLine(session, target, `${command}${form}${line}`)}`)
}

/** Options of the one form say nothing of the other. */
function refuseStray({ from, fromLine, collection, remove, all }: ImportOptions): void {
  const isFolder = from === 'files'
  const given = isFolder
    ? { '--from-line': fromLine }
    : { '--collection': collection, '--remove': remove, '--all': all }
  const stray = Object.entries(given).find(([, value]) => value !== undefined)?.[0]
  if (stray !== undefined) throw usageError(`${stray} goes ${isFolder ? 'without' : 'with'} --from files.`)
}

function lineImport(
  target: Target,
  file: string,
  form: Exclude<ImportForm, 'files'>,
  how: Omit<Parameters<typeof importGraph>[2], 'form'>,
): Promise<Imported> {
  const pieces = file === '-' ? process.stdin : createReadStream(readablePath(file, 'the file'))
  return importGraph(target, pieces.setEncoding('utf8'), { ...how, form })
}

async function folderImport(
  target: Target,
  folder: string,
  { collection, remove, all }: ImportOptions,
  how: ImportHow,
): Promise<Imported & Partial<ImportedFolder>> {
  const { importFolder } = await import('./import-files.ts')
  const named = collection === undefined ? {} : { collection }
  return await importFolder(target, folder, { ...how, ...named, remove: remove === true, all: all === true })
}

/** Errors told on a terminal; --json has more. */
const TOLD = 20

function sayImported(session: Session, imported: Imported & Partial<ImportedFolder>): void {
  const { outcomes, refused, same } = imported
  const unit = same === undefined ? 'line' : 'file'
  for (const line of errorLines(imported)) session.warn(line)
  if (refused > TOLD) session.warn(`.. and ${count(refused - TOLD, `more ${unit}`)}; --json lists up to 1000.`)
  const done = Object.values(outcomes).reduce((sum, one) => sum + one, 0)
  const words = Object.entries(outcomes).map(([outcome, times]) => `${times} ${outcome}`)
  const what = `${count(done, unit)} imported${words.length === 0 ? '' : ` (${words.join(', ')})`}`
  session.say([what, ...sameWords(imported), `${refused} refused.`].join(', '))
  sayGone(session, imported)
}

function errorLines({ errors, same }: Imported & Partial<ImportedFolder>): readonly string[] {
  return errors.slice(0, TOLD).map(({ line, id, code, message }) => {
    const named = id === undefined ? '' : ` (${oneLine(id)})`
    return `${same === undefined ? `line ${line}${named}` : oneLine(id ?? '')}: ${oneLine(message)} [${code}]`
  })
}

/** Of a folder: what was not sent. */
function sameWords({ same, skipped = 0 }: Partial<ImportedFolder>): readonly string[] {
  if (same === undefined) return []
  return [`${same} as before`, ...(skipped === 0 ? [] : [`${skipped} of other kinds left out`])]
}

function sayGone(session: Session, { gone = [], removed }: Partial<ImportedFolder>): void {
  if (gone.length === 0) return
  const named = `${gone.slice(0, TOLD).map(oneLine).join(', ')}${gone.length > TOLD ? ', ..' : ''}`
  const what =
    removed === true ? 'what was imported of them is deleted' : 'what was imported of them stays; --remove deletes it'
  session.say(`${count(gone.length, 'file')} not there any more: ${named}; ${what}.`)
}

function asJson({ stopped, ...imported }: Imported) {
  return { ...imported, ...(stopped && { stopped: stopped.reason }) }
}

/** On a terminal one line that changes; elsewhere a line each ten seconds. Always on stderr. */
function showProgress(session: Session, quiet: boolean) {
  let said = Date.now()
  let open = false
  const draw = (text: string) => {
    if (session.live) process.stderr.write(`\r\u001b[0K${text}`)
    else session.warn(text)
    open = session.live
  }
  return {
    show({ line, done, refused, waits }: Parameters<Parameters<typeof importGraph>[2]['progress']>[0]) {
      const due = Date.now() - said > (session.live ? 100 : 10_000)
      if (quiet || !(due || waits !== undefined)) return
      said = Date.now()
      draw(`line ${line}: ${done} imported, ${refused} refused${waits === undefined ? '' : `; ${waits}`}`)
    },
    end() {
      if (open) process.stderr.write('\r\u001b[0K')
    },
  }
}

interface DeleteOptions extends TargetOptions {
  readonly file?: string
}

function addGraphDelete(graph: Command, session: Session): void {
  withTargetOptions(graph.command('delete').description('delete entities with all they state, by id'))
    .argument('[entity-ids...]')
    .option('--file <file>', 'ids from a file, one a line, or the lines of an import; - reads stdin')
    .action((ids: readonly string[], options: DeleteOptions) => graphDelete(session, ids, options))
}

async function graphDelete(session: Session, named: readonly string[], options: DeleteOptions): Promise<void> {
  const ids = [...named, ...(options.file === undefined ? [] : await idsOf(options.file))]
  if (ids.length === 0) throw usageError('Name the entities to delete, or a --file of ids.')
  const target = chooseTarget(session, options.url)
  const results: ItemResult[] = []
  for (let at = 0; at < ids.length; at += WRITE_BATCH) {
    const some = ids.slice(at, at + WRITE_BATCH)
    const sent = await callWithRetries(() => remove(target, some), { note: (why) => session.warn(why) })
    results.push(...sent.map((result) => ({ id: some[result.at] ?? '', ...result, at: at + result.at })))
  }
  if (options.json === true) session.say(jsonText({ results }, 2))
  else sayDeleted(session, results)
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
}

async function remove(target: Target, entity_ids: readonly string[]): Promise<readonly ItemResult[]> {
  const answer = GRAPH_ROUTES['delete-entities'].answer.loose()
  const body = { entity_ids: [...entity_ids] }
  return (await callApi(target, answer, (api) => api.DELETE('/api/graph/entities', { body }))).results
}

function sayDeleted(session: Session, results: readonly ItemResult[]): void {
  const refused = results.filter(({ ok }) => !ok)
  for (const { id = '', error } of refused) session.warn(`${oneLine(id)}: ${oneLine(error?.message ?? 'not deleted')}`)
  const deleted = results.filter(({ outcome }) => outcome === 'deleted').length
  const absent = results.filter(({ outcome }) => outcome === 'absent').length
  session.say(`Deleted ${deleted}, ${absent} not there, ${refused.length} refused.`)
}

async function idsOf(file: string): Promise<readonly string[]> {
  const pieces = file === '-' ? process.stdin : createReadStream(readablePath(file, 'the file'))
  const ids: string[] = []
  for await (const line of splitLines(pieces.setEncoding('utf8'))) {
    const id = idOf(line.trim())
    if (id !== '') ids.push(id)
  }
  return ids
}

/** A bare id, or the entity_id of a line of an import; whatever else stands there is sent as it is, and refused. */
function idOf(line: string): string {
  if (!line.startsWith('{')) return line
  const found = /"entity_id"\s*:\s*"([^"\\]*)"/.exec(line)
  return found?.[1] ?? line.slice(0, 300)
}
