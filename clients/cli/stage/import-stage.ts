import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as z from 'zod'
import { type Copied, STAGE_ROUTES } from '../../../shared/api/stage-routes.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { callApi, callWithRetries, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import { type CopyFolder, type Entry, openCopy, readWhole } from './copy-folder.ts'

type Note = (why: string) => void
const ANSWER = STAGE_ROUTES['import-stage'].answer.loose()
type Answer = z.infer<typeof ANSWER>

interface Work {
  readonly target: Target
  readonly folder: CopyFolder
  readonly tenant: string
  readonly note: Note
  /** What this stage has of the copy already. */
  readonly done: Progress
  readonly sum: { taken: number; there: number; bodies: number; refused: Answer['refused'] }
}

/**
 * Sends a copy that is whole: bodies before the records that name them. Each file is checked against its hash before it is
 * sent, and noted when the stage has it, so that an import which broke off goes on.
 */
export async function importStage(target: Target, path: string, note: Note) {
  const folder = openCopy(path, false)
  const about = folder.about()
  if (about?.complete !== true) throw notWhole(path)
  const entries = [...folder.entries().values()].filter(({ bytes }) => bytes > 0)
  readWhole(join(path, 'index.jsonl'), about.index_sha256 ?? '')
  const sum: Work['sum'] = { taken: 0, there: 0, bodies: 0, refused: [] }
  const { tenant } = about
  const work: Work = { target, folder, tenant, note, done: openProgress(folder, target, tenant), sum }
  await sendBodies(work)
  for (const what of ['graph', 'run', 'triggers', 'spending'] as const) {
    await sendRecords(
      work,
      what,
      entries.filter((entry) => entry.what === what),
    )
  }
  return { folder: path, tenant, ...sum }
}

function notWhole(path: string): Refused {
  const detail = `Cannot take the copy in "${path}": its export was not finished. Run \`sluice stage export\` again, into the same folder: it goes on.`
  return new Refused({ code: 'copy_unfinished', detail })
}

interface Progress {
  has(name: string): boolean
  add(name: string): void
}

/** A file beside the copy, one a stage: names of what was sent. */
function openProgress(folder: CopyFolder, { url }: Target, tenant: string): Progress {
  const file = join(folder.path, `sent-${sha256(`${url} ${tenant}`).slice(0, 16)}`)
  const names = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [])
  return {
    has: (name) => names.has(name),
    add(name) {
      names.add(name)
      appendFileSync(file, `${name}\n`)
    },
  }
}

/** Bodies whose addresses are asked for in one call, and bytes of records taken in one. */
const BODIES = 100
const RECORD_BYTES = 4_194_304
const RECORD_FILES = 20

async function sendBodies(work: Work): Promise<void> {
  let batch: string[] = []
  for (const hash of work.folder.bodies()) {
    if (work.done.has(hash)) continue
    batch.push(hash)
    if (batch.length < BODIES) continue
    await sendFiles(
      work,
      batch.map((one) => ({ path: work.folder.bodyPath(one), hash: one })),
    )
    batch = []
  }
  if (batch.length > 0)
    await sendFiles(
      work,
      batch.map((one) => ({ path: work.folder.bodyPath(one), hash: one })),
    )
}

interface File {
  readonly path: string
  readonly hash: string
}

/** One in memory at a time. */
async function sendFiles(work: Work, files: readonly File[]): Promise<void> {
  const bodies = files.map(({ path, hash }) => ({ sha256: hash, size: readWhole(path, hash).byteLength }))
  const { uploads = [] } = await ask(work, { what: 'body', bodies })
  const paths = new Map(files.map(({ path, hash }) => [hash, path]))
  for (const { sha256: hash, url, method, headers } of uploads) {
    const body = readWhole(paths.get(hash) ?? '', hash)
    await patiently(work, () => put(work.target, { url, method, headers }, body))
  }
  for (const { hash } of files) {
    work.done.add(hash)
    work.sum.bodies += 1
  }
}

interface Address {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

async function put(
  { url: base, token }: Target,
  { url, method, headers }: Address,
  body: Buffer<ArrayBuffer>,
): Promise<void> {
  const own = url.startsWith('/')
  const credential = own && token !== undefined ? { authorization: `Bearer ${token}` } : {}
  const sent = fetch(own ? `${base}${url}` : url, { method, headers: { ...headers, ...credential }, body })
  const answer = await sent.catch((cause: unknown) => {
    throw new Refused({ code: 'no_server', detail: `Nobody answers at ${new URL(url, base).origin}.` }, { cause })
  })
  if (answer.ok) return
  const detail = `The object store answered HTTP ${answer.status} to an upload of ${body.byteLength} bytes: ${(await answer.text()).slice(0, 300)}`
  throw new Refused({ code: 'upload_refused', detail }, { status: answer.status })
}

async function sendRecords(work: Work, what: Copied, entries: readonly Entry[]): Promise<void> {
  let batch: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    if (work.done.has(nameOf(entry))) continue
    const isFull = batch.length === RECORD_FILES || bytes + entry.bytes > RECORD_BYTES
    if (isFull && batch.length > 0) {
      await sendBatch(work, what, batch)
      ;[batch, bytes] = [[], 0]
    }
    batch.push(entry)
    bytes += entry.bytes
  }
  if (batch.length > 0) await sendBatch(work, what, batch)
}

/** A later export may have written another file of that name. */
const nameOf = ({ file, sha256: hash }: Entry) => `${file} ${hash}`

async function sendBatch(work: Work, what: Copied, batch: readonly Entry[]): Promise<void> {
  await sendFiles(
    { ...work, sum: { ...work.sum } },
    batch.map(({ file, sha256: hash }) => ({ path: join(work.folder.path, file), hash })),
  )
  const refs = batch.map(({ sha256: hash }) => `objstore://${work.tenant}/${hash}`)
  const { taken, there, refused } = await ask(work, { what, refs })
  work.sum.taken += taken
  work.sum.there += there
  work.sum.refused.push(...refused)
  // What was refused is asked about again by the next import: it may have gone meanwhile.
  if (refused.length === 0) for (const entry of batch) work.done.add(nameOf(entry))
}

type Asked = { what: 'body'; bodies: { sha256: string; size: number }[] } | { what: Copied; refs: string[] }

function ask(work: Work, body: Asked): Promise<Answer> {
  return patiently(work, () => callApi(work.target, ANSWER, (api) => api.POST('/api/stage/import', { body })))
}

function patiently<T>({ note }: Work, call: () => Promise<T>): Promise<T> {
  return callWithRetries(call, { note: (why, ms) => note(`${why} Trying again in ${Math.ceil(ms / 1_000)} s.`) })
}
