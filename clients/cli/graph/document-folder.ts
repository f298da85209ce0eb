import { createHash } from 'node:crypto'
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix, resolve } from 'node:path'
import type { Entity } from '../../../shared/graph/entity.ts'
import type { Triple } from '../../../shared/graph/triple.ts'
import { MOST_UPLOAD_BYTES } from '../../../shared/ports/objects.ts'
import { usageError } from '../terminal/refused.ts'
import { DOCUMENT_ENDINGS, endingOf, type ReadDocument, readDocument } from './document-text.ts'
import type { BadLine, ReadItem } from './import-lines.ts'

/** A file of a folder: its path from there with slashes, and its entity. */
interface DocumentFile {
  readonly path: string
  readonly entity_id: string
}

interface Closed {
  readonly path: string
  readonly message: string
}

/** The files of a folder, in the order of their paths. */
export interface DocumentFolder {
  readonly folder: string
  /** The fourth segment of every id. */
  readonly collection: string
  readonly files: readonly DocumentFile[]
  /** Folders in it that nobody could look into, and why. */
  readonly closed: readonly Closed[]
  /** Files of other endings. */
  readonly others: number
}

/** Fault usage: there is no such folder, or its name makes no segment of an id. */
export function documentFolder(folder: string, name?: string): DocumentFolder {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw usageError(`Cannot import the files of "${folder}": there is no such folder. --from files takes a folder.`)
  }
  const collection = name ?? slug(basename(resolve(folder)))
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(collection)) {
    throw usageError(
      `Cannot call the collection "${collection}": it is a segment of ids, 1 to 64 letters, digits, _ and -, a letter or digit first. Name another with --collection.`,
    )
  }
  const closed: Closed[] = []
  const paths = pathsBelow(folder, '', closed)
  const files = paths
    .filter((path) => DOCUMENT_ENDINGS.includes(endingOf(path)))
    .map((path) => ({ path, entity_id: idOf(collection, 'document', instanceOf(path)) }))
  return { folder, collection, files, closed, others: paths.length - files.length }
}

export function idOf(collection: string, type: string, instance: string): string {
  return `local.files.docs.${collection}.${type}.${instance}`
}

/** What is hidden, and what packages bring along, is nobody's documents. A link that leads out of the folder is not followed. */
function pathsBelow(folder: string, below: string, closed: Closed[]): readonly string[] {
  return entriesOf(folder, below, closed)
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = posix.join(below, entry.name)
      if (entry.isDirectory()) return pathsBelow(folder, path, closed)
      return entry.isFile() ? [path] : []
    })
}

function entriesOf(folder: string, below: string, closed: Closed[]): readonly Dirent[] {
  try {
    return readdirSync(join(folder, below), { withFileTypes: true })
  } catch (cause) {
    if (below === '') throw usageError(`Cannot import the files of "${folder}". ${notRead(folder, cause)}`)
    closed.push({ path: below, message: notRead(below, cause) })
    return []
  }
}

/** One that cannot be looked at is told of by itself. */
function notRead(path: string, cause: unknown): string {
  if (path.includes('\ufffd')) return 'It cannot be read: its name is no UTF-8. Rename it.'
  return `It cannot be read: ${(cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '')}.`
}

const MOST_INSTANCE = 120

/** `guides/setup.md` is `guides_setup-md`; a path that would not be the only one of its instance ends in its hash. */
function instanceOf(path: string): string {
  const plain = path.replaceAll('/', '_').replace(/\.([A-Za-z0-9]+)$/, '-$1')
  if (/^[A-Za-z0-9][A-Za-z0-9/-]*\.[A-Za-z0-9]+$/.test(path) && plain.length <= MOST_INSTANCE) return plain
  return `${slug(plain).slice(0, MOST_INSTANCE)}-${hashOf(path).slice(0, 8)}`
}

function slug(text: string): string {
  const plain = text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
  return plain.replace(/^[^A-Za-z0-9]+/, '').replace(/-+$/, '') || 'files'
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** What the graph has of a collection: a mark of each file's content, by path. */
export type Listing = ReadonlyMap<string, string>

/** What an import of a folder comes to before anything is sent. */
export interface FolderPlan {
  /** Entities of files that are new or changed, in order; `line` counts all files from 1. */
  reads(): AsyncGenerator<ReadItem | BadLine>
  /** The file of a line, and the mark of its content. */
  fileOf(line: number): { readonly path: string; readonly mark: string } | undefined
  readonly unchanged: number
  /** Files that are not there any more. */
  readonly gone: readonly DocumentFile[]
}

/** A file's mark is of its bytes, of the files it may lead to, and of how files are read. */
export function planFolder(
  { folder, collection, files, closed }: DocumentFolder,
  listing: Listing,
  all: boolean,
): FolderPlan {
  const ids = new Map(files.map(({ path, entity_id }) => [path, entity_id]))
  const there = hashOf([...ids.keys()].join('\n'))
  const marked = files.map((file, at) => ({ ...file, line: at + 1, ...markOf(folder, file.path, there) }))
  const changed = marked.filter(({ path, mark }) => all || mark === undefined || listing.get(path) !== mark)
  return {
    async *reads() {
      for (const file of changed)
        yield file.refused === undefined ? await readFile(folder, file, ids) : bad(file, file.refused)
      for (const [at, { path, message }] of closed.entries()) yield bad({ path, line: files.length + at + 1 }, message)
    },
    fileOf: (line) => {
      const { path, mark } = marked[line - 1] ?? {}
      return path === undefined || mark === undefined ? undefined : { path, mark }
    },
    unchanged: marked.length - changed.length,
    gone: [...listing.keys()]
      .filter((path) => !ids.has(path) && !closed.some((one) => path.startsWith(posix.join(one.path, '/'))))
      .map((path) => ({ path, entity_id: idOf(collection, 'document', instanceOf(path)) })),
  }
}

/** Raised when files are read otherwise: every one is sent again. */
const READ_VERSION = '2'

/** Of a path as JSON: listings (import-files.ts) and statements have room for it. */
const MOST_PATH = 1_000

/** The mark of a file, or why it is not taken. Only files with links know of others. */
function markOf(
  folder: string,
  path: string,
  there: string,
): { readonly mark: string; readonly refused?: undefined } | { readonly mark?: undefined; readonly refused: string } {
  const leads = ['md', 'markdown', 'html', 'htm'].includes(endingOf(path))
  if (JSON.stringify(path).length > MOST_PATH)
    return { refused: `Its path is too long: at most ${MOST_PATH} characters.` }
  try {
    const { size } = statSync(join(folder, path))
    if (size > MOST_UPLOAD_BYTES) return { refused: `It has ${size} bytes, at most ${MOST_UPLOAD_BYTES} are taken.` }
    return { mark: hashOf(READ_VERSION, leads ? there : '', readFileSync(join(folder, path))).slice(0, 24) }
  } catch (cause) {
    return { refused: notRead(path, cause) }
  }
}

function bad({ path, line }: { readonly path: string; readonly line: number }, message: string): BadLine {
  return { line, id: path, code: 'unreadable_file', message }
}

async function readFile(
  folder: string,
  file: DocumentFile & { readonly line: number },
  ids: ReadonlyMap<string, string>,
): Promise<ReadItem | BadLine> {
  const place = join(folder, file.path)
  try {
    const { mtime } = statSync(place)
    const read = await readDocument(file.path, readFileSync(place))
    if (read.text.trim() === '') {
      return bad(file, 'No text is in it. A PDF of pictures needs its text recognised first.')
    }
    const value = { ...entityOf(file, read, ids, mtime.toISOString()), body: read.text }
    return {
      kind: 'entities',
      item: { line: file.line, id: file.path, value },
      bytes: Buffer.byteLength(JSON.stringify(value)),
    }
  } catch (cause) {
    return bad(file, notRead(file.path, cause))
  }
}

function entityOf(
  { path, entity_id }: DocumentFile,
  { title, links }: ReadDocument,
  ids: ReadonlyMap<string, string>,
  timestamp: string,
): Entity {
  const said = { subject: entity_id, source: path, timestamp, confidence: 1, rule_opaque: false }
  const targets = new Set(links.flatMap((link) => ids.get(targetOf(path, link)) ?? []))
  targets.delete(entity_id)
  const edges: Triple[] = [...targets]
    .slice(0, MOST_LINKS)
    .map((object) => ({ ...said, predicate: 'document.links_to', object }))
  const name = basename(path).replace(/\.[A-Za-z0-9]+$/, '')
  const label = title ?? (name.trim() === '' ? path : name)
  return {
    entity_id,
    label,
    type: 'document',
    triples: [{ ...said, predicate: 'document.path', object: path }, ...edges],
  }
}

/** An entity states 1,000 things. */
const MOST_LINKS = 900

/** The path a link of a file leads to, from the folder; one of the web is none of them. */
function targetOf(from: string, link: string): string {
  const [path = ''] = link.split(/[#?]/, 1)
  if (path === '' || /^[a-z][a-z0-9+.-]*:/i.test(path)) return ''
  const plain = decoded(path)
  return plain.startsWith('/') ? posix.normalize(plain.slice(1)) : posix.join(posix.dirname(from), plain)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
