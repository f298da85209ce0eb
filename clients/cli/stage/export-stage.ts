import { createHash } from 'node:crypto'
import { appendFileSync, createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import { type Copied, NOT_COPIED, STAGE_ROUTES } from '../../../shared/api/stage-routes.ts'
import { MOST_UPLOAD_BYTES } from '../../../shared/ports/objects.ts'
import { callApi, callWithRetries, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import { type CopyFolder, type Entry, type LeftOut, move, openCopy } from './copy-folder.ts'

type Note = (why: string) => void

interface Work {
  readonly target: Target
  readonly folder: CopyFolder
  readonly note: Note
  readonly leftOut: LeftOut[]
  /** Whose copy it is, once the stage has said so. */
  tenant: string | undefined
  readonly fetched: { runs: number; bodies: number }
}

/**
 * Writes down what the tenant has, a file at a time: a run that is there, or a body, is not fetched again, so that an export
 * that broke off goes on, and a later one adds what is new. What is held in memory is a page, and the names one run has.
 */
export async function exportStage(target: Target, path: string, note: Note) {
  const folder = openCopy(path, true)
  const before = folder.about()
  const work: Work = { target, folder, note, leftOut: [], tenant: before?.tenant, fetched: { runs: 0, bodies: 0 } }
  folder.finish({ tenant: before?.tenant ?? '', complete: false, left_out: [] })
  await saveRest(work, 'spending')
  await saveRest(work, 'triggers')
  await saveGraph(work)
  await saveRuns(work)
  const tenant = work.tenant ?? ''
  const left_out = [...NOT_COPIED.map((what) => ({ what, why: 'by design' })), ...work.leftOut]
  folder.finish({ tenant, complete: true, exported_at: new Date().toISOString(), left_out })
  return { folder: path, tenant, complete: true, ...sizesOf(folder), fetched: work.fetched, left_out: work.leftOut }
}

function sizesOf(folder: CopyFolder) {
  const entries = [...folder.entries().values()]
  let bodies = 0
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  for (const hash of folder.bodies()) {
    bodies += 1
    bytes += statSync(folder.bodyPath(hash)).size
  }
  return { runs: entries.filter(({ what }) => what === 'run').length, bodies, bytes }
}

const RUNS = RUN_ROUTES['list-runs'].answer.loose()

/** Newest first: what starts meanwhile is before the first page, and is found by the next export. */
async function saveRuns(work: Work): Promise<void> {
  const known = work.folder.entries()
  let cursor: string | undefined
  do {
    const page = await runsPage(work, cursor)
    for (const run of page.runs) {
      if (!known.has(`runs/${run.run_id}.jsonl`)) await saveIfEnded(work, run)
    }
    for (const { run_id, item, seen } of page.damaged ?? []) {
      work.leftOut.push({ what: `run ${run_id}`, why: `its ${item} is damaged: ${seen}` })
    }
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

function runsPage(work: Work, cursor: string | undefined): Promise<z.infer<typeof RUNS>> {
  const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) }
  return patiently(work, () => callApi(work.target, RUNS, (api) => api.GET('/api/dag/runs', { params: { query } })))
}

async function saveIfEnded(work: Work, { run_id, state }: z.infer<typeof RUNS>['runs'][number]): Promise<void> {
  if (!LIVE.has(state)) return saveRun(work, run_id)
  work.leftOut.push({ what: `run ${run_id}`, why: `it is ${state}` })
}

const LIVE: ReadonlySet<string> = new Set(['running', 'pending', 'paused_approval', 'waiting', 'paused'])

async function saveRun(work: Work, run_id: string): Promise<void> {
  const file = await saveLines(work, { what: 'run', run_id }).catch(erased)
  if (file === undefined) return void work.leftOut.push({ what: `run ${run_id}`, why: 'it was erased' })
  if (file.bytes > MOST_UPLOAD_BYTES) {
    const why = `its records have ${file.bytes} bytes, and ${MOST_UPLOAD_BYTES} can be taken`
    return void work.leftOut.push({ what: `run ${run_id}`, why })
  }
  await saveBodies(work, file.refs, `run ${run_id}`)
  work.folder.add({ file: `runs/${run_id}.jsonl`, what: 'run', ...hashed(file) }, file.path)
  work.fetched.runs += 1
}

async function saveRest(work: Work, what: 'spending' | 'triggers'): Promise<void> {
  const file = await saveLines(work, { what })
  await saveBodies(work, file.refs, what)
  work.folder.add({ file: `${what}.jsonl`, what, ...hashed(file) }, file.path)
}

/** In files of some pages, each of which can be taken by itself; those of an earlier export are written over, or emptied. */
async function saveGraph(work: Work): Promise<void> {
  const older = new Set([...work.folder.entries().keys()].filter((file) => file.startsWith('graph/')))
  let after: string | undefined
  for (let n = 1; n === 1 || after !== undefined; n += 1) {
    const file = await saveLines(work, { what: 'graph', after }, GRAPH_BYTES)
    await saveBodies(work, file.refs, 'the graph')
    const name = `graph/${String(n).padStart(6, '0')}.jsonl`
    older.delete(name)
    work.folder.add({ file: name, what: 'graph', ...hashed(file) }, file.path)
    after = file.next
  }
  for (const name of older) {
    const path = work.folder.temporary()
    writeFileSync(path, '')
    work.folder.add({ file: name, what: 'graph', sha256: createHash('sha256').digest('hex'), bytes: 0 }, path)
  }
}

const GRAPH_BYTES = 4_194_304

interface Asked {
  readonly what: Copied
  readonly run_id?: string
  readonly after?: string | undefined
}

interface Saved {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  /** Hashes of the bodies its lines name. */
  readonly refs: ReadonlySet<string>
  /** Where it goes on, where it was ended before its last page. */
  readonly next: string | undefined
}

const hashed = ({ sha256, bytes }: Saved): Pick<Entry, 'sha256' | 'bytes'> => ({ sha256, bytes })

const PAGE = STAGE_ROUTES['export-stage'].answer.loose()

async function saveLines(work: Work, asked: Asked, most = Number.POSITIVE_INFINITY): Promise<Saved> {
  const path = work.folder.temporary()
  writeFileSync(path, '')
  const hash = createHash('sha256')
  const refs = new Set<string>()
  let bytes = 0
  let after = asked.after
  do {
    const page = await pageOf(work, { ...asked, after })
    const text = page.lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    appendFileSync(path, text)
    hash.update(text)
    bytes += Buffer.byteLength(text)
    for (const ref of refsIn(text)) refs.add(ref)
    after = page.next ?? undefined
  } while (after !== undefined && bytes < most)
  return { path, sha256: hash.digest('hex'), bytes, refs, next: after }
}

interface AskedPage {
  readonly what: Copied | 'body'
  readonly run_id?: string
  readonly sha256?: string
  readonly after?: string | undefined
}

async function pageOf(work: Work, { after, ...asked }: AskedPage): Promise<z.infer<typeof PAGE>> {
  const query = { ...asked, ...(after === undefined ? {} : { after }) }
  const page = await patiently(work, () =>
    callApi(work.target, PAGE, (api) => api.GET('/api/stage/export', { params: { query } })),
  )
  if (work.tenant !== undefined && work.tenant !== '' && work.tenant !== page.tenant)
    throw otherTenant(work, page.tenant)
  work.tenant = page.tenant
  return page
}

function otherTenant({ folder, tenant }: Work, seen: string): Refused {
  const detail = `Cannot export tenant "${seen}" into "${folder.path}": it holds a copy of tenant "${tenant}". Name another folder.`
  return new Refused({ code: 'other_tenant', detail })
}

function patiently<T>({ note }: Work, call: () => Promise<T>): Promise<T> {
  return callWithRetries(call, { note: (why, ms) => note(`${why} Trying again in ${Math.ceil(ms / 1_000)} s.`) })
}

const REF = /objstore:\/\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})\/([0-9a-f]{64})/g
/** Longer than a ref is. */
const OVERLAP = 256

function refsIn(text: string): readonly string[] {
  return [...text.matchAll(REF)].map(([, , hash = '']) => hash)
}

/** Every body that is named, and those which these name: inputs, transcripts and evidence do. */
async function saveBodies(work: Work, refs: ReadonlySet<string>, whose: string): Promise<void> {
  const seen = new Set(refs)
  for (const hash of seen) {
    if (!work.folder.hasBody(hash) && !(await saveBody(work, hash, whose))) continue
    for (const found of await refsInFile(work.folder.bodyPath(hash))) seen.add(found)
  }
}

const SLICE = z.strictObject({ base64: z.base64() })

/** false: the stage has none of that name, which is told. */
async function saveBody(work: Work, hash: string, whose: string): Promise<boolean> {
  const path = `${work.folder.temporary()}-body`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
  const made = createHash('sha256')
  let after: string | undefined
  do {
    const page = await pageOf(work, { what: 'body', sha256: hash, after }).catch(missing)
    if (page === undefined) {
      work.leftOut.push({ what: `body ${hash} of ${whose}`, why: 'the stage has it no more' })
      return false
    }
    const bytes = Buffer.from(SLICE.parse(page.lines[0]).base64, 'base64')
    made.update(bytes)
    appendFileSync(path, bytes)
    after = page.next ?? undefined
  } while (after !== undefined)
  if (made.digest('hex') !== hash) {
    throw new Refused({
      code: 'copy_damaged',
      detail: `The body the stage sent as ${hash} has another hash. Export again.`,
    })
  }
  if (statSync(path).size > MOST_UPLOAD_BYTES) {
    const why = `it has ${statSync(path).size} bytes, and ${MOST_UPLOAD_BYTES} can be taken`
    work.leftOut.push({ what: `body ${hash} of ${whose}`, why })
    return false
  }
  move(path, work.folder.bodyPath(hash))
  work.fetched.bodies += 1
  return true
}

/** Since it was listed. */
function erased(error: unknown): undefined {
  if (error instanceof Refused && error.reason.code === 'run_erased') return undefined
  throw error
}

function missing(error: unknown): undefined {
  if (error instanceof Refused && error.reason.code === 'object_missing') return undefined
  throw error
}

async function refsInFile(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let tail = ''
  for await (const part of createReadStream(path, { encoding: 'latin1' })) {
    const text = tail + String(part)
    for (const hash of refsIn(text)) found.add(hash)
    tail = text.slice(-OVERLAP)
  }
  return found
}
