import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import type { Copied } from '../../../shared/api/stage-routes.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { Refused } from '../terminal/refused.ts'

/**
 * A copy of a stage, as a folder (docs/operate.md, "A copy of a stage"):
 *
 *     stage.json           what it is, of which tenant, whether it is whole, what it does not have
 *     index.jsonl          a line a file of records: its hash and size; written when the file is whole
 *     runs/RUN.jsonl       the records of one run; graph/N.jsonl, triggers.jsonl, spending.jsonl the others
 *     objects/AA/SHA256    every body that the records, or such bodies, name
 *
 * A file has its name once it is whole: what was begun has another, and is begun again.
 */
const FORMAT = 'sluice-stage/1'

const EntrySchema = z.strictObject({
  file: z.string().regex(/^(runs\/run_[0-9a-z]{26}|graph\/\d{6}|triggers|spending)\.jsonl$/),
  what: z.enum(['run', 'graph', 'triggers', 'spending']),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
})
/** One file of records. */
export type Entry = z.infer<typeof EntrySchema> & { readonly what: Copied }

export interface LeftOut {
  readonly what: string
  readonly why: string
}

const AboutSchema = z.looseObject({
  format: z.literal(FORMAT),
  tenant: z.string(),
  complete: z.boolean(),
  exported_at: z.string().optional(),
  index_sha256: z.string().optional(),
  left_out: z.array(z.looseObject({ what: z.string(), why: z.string() })).default([]),
})
export type About = z.infer<typeof AboutSchema>

export interface CopyFolder {
  readonly path: string
  about(): About | undefined
  /** Files of records that are whole, the newest of a name. */
  entries(): ReadonlyMap<string, Entry>
  /** Says so in the index; the file has its name from now on. */
  add(entry: Entry, temporary: string): void
  /** Where a file is written until it is whole. */
  temporary(): string
  bodyPath(hash: string): string
  hasBody(hash: string): boolean
  bodies(): Generator<string>
  finish(about: Omit<About, 'format' | 'index_sha256'>): void
}

/** A folder that holds something else is refused: nothing of it is written over. */
export function openCopy(path: string, make: boolean): CopyFolder {
  const index = join(path, 'index.jsonl')
  const isThere = existsSync(path) && readdirSync(path).length > 0
  if (isThere ? !existsSync(index) : !make) throw notACopy(path)
  if (make) mkdirSync(path, { recursive: true })
  if (make && !isThere) writeFileSync(index, '')
  const bodyPath = (hash: string) => join(path, 'objects', hash.slice(0, 2), hash)
  return {
    path,
    about: () => readAbout(join(path, 'stage.json')),
    entries: () => readIndex(index),
    add(entry, temporary) {
      move(temporary, join(path, entry.file))
      appendFileSync(index, `${JSON.stringify(entry)}\n`)
    },
    temporary: () => join(path, 'unfinished'),
    bodyPath,
    hasBody: (hash) => existsSync(bodyPath(hash)),
    *bodies() {
      const objects = join(path, 'objects')
      for (const part of existsSync(objects) ? readdirSync(objects).toSorted() : []) {
        yield* readdirSync(join(objects, part)).toSorted()
      }
    },
    finish(about) {
      const temporary = join(path, 'unfinished')
      const whole = { format: FORMAT, ...about, index_sha256: sha256(readFileSync(index)) }
      writeFileSync(temporary, `${JSON.stringify(whole, null, 2)}\n`)
      move(temporary, join(path, 'stage.json'))
    },
  }
}

/** What is at its place is whole. */
export function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  rmSync(to, { force: true })
  renameSync(from, to)
}

function readAbout(file: string): About | undefined {
  if (!existsSync(file)) return undefined
  try {
    return AboutSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    const detail = `Cannot read ${file}: it is no ${FORMAT}. A newer version may have written it; export anew into another folder.`
    throw new Refused({ code: 'not_a_copy', detail }, { cause })
  }
}

/** A last line that is torn, of a process that died, is none. */
function readIndex(file: string): ReadonlyMap<string, Entry> {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return new Map(
    lines.flatMap((line) => {
      const entry = EntrySchema.safeParse(jsonOf(line))
      return entry.success ? [[entry.data.file, entry.data] as const] : []
    }),
  )
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The content of a file that must have this hash. */
export function readWhole(file: string, hash: string): Buffer<ArrayBuffer> {
  const seen = existsSync(file) ? readFileSync(file) : undefined
  if (seen !== undefined && createHash('sha256').update(seen).digest('hex') === hash) return seen
  const what = seen === undefined ? 'it is missing' : `its ${statSync(file).size} bytes have another hash than ${hash}`
  const detail = `Cannot take the copy: ${file} is damaged: ${what}. Export it again where it came from.`
  throw new Refused({ code: 'copy_damaged', detail })
}

function notACopy(path: string): Refused {
  const detail = `Cannot use folder "${path}": it is no copy that \`sluice stage export\` began. Name one that is, or to export an empty or new one.`
  return new Refused({ code: 'not_a_copy', detail })
}
