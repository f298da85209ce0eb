import { dirname, relative } from 'node:path'

/** A call of a traced program that changes files below a folder, or what it said on its standard output. */
export type TracedCall =
  | { readonly name: 'said'; readonly text: string }
  | { readonly name: 'make' | 'truncate' | 'remove' | 'sync'; readonly path: string; readonly folder?: boolean }
  | { readonly name: 'write'; readonly path: string; readonly data: Buffer; readonly at: number | 'end' }
  | { readonly name: 'rename'; readonly path: string; readonly to: string }

/** What `strace -f -y -xx` wrote, in the order in which the calls came back; of files below the folder alone. */
export function tracedCalls(trace: string, folder: string): readonly TracedCall[] {
  const begun = new Map<string, string>()
  return trace.split('\n').flatMap((line) => {
    const [, pid = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const [, before] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? []
    if (before !== undefined) begun.set(pid, before)
    const [, after] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? []
    if (before !== undefined) return []
    return callOf(after === undefined ? text : `${begun.get(pid) ?? ''}${after}`, folder)
  })
}

/** A call as strace wrote it. */
interface Parsed {
  readonly given: string
  /** Relative to the folder. */
  readonly path: string
  /** Its texts, as bytes. */
  readonly texts: readonly Buffer[]
  /** Its last argument. */
  readonly last: number
  readonly folder: string
}

const CALLS: Readonly<Record<string, (call: Parsed) => readonly TracedCall[]>> = {
  openat: ({ given, path }) => {
    if (given.includes('O_TRUNC'))
      return [
        { name: 'make', path },
        { name: 'truncate', path },
      ]
    return given.includes('O_CREAT') ? [{ name: 'make', path }] : []
  },
  mkdir: ({ path }) => [{ name: 'make', path, folder: true }],
  pwrite64: ({ path, texts: [data = NOTHING], last }) => [{ name: 'write', path, data, at: last }],
  write: ({ path, texts: [data = NOTHING] }) => [{ name: 'write', path, data, at: 'end' }],
  ftruncate: ({ path, last }) => (last === 0 ? [{ name: 'truncate', path }] : []),
  fsync: ({ path }) => [{ name: 'sync', path }],
  fdatasync: ({ path }) => [{ name: 'sync', path }],
  rename: ({ path, texts: [, to], folder }) => [{ name: 'rename', path, to: relative(folder, String(to)) }],
  unlink: ({ path }) => [{ name: 'remove', path }],
}

const NOTHING = Buffer.alloc(0)
const TEXT = String.raw`(?:\\x[0-9a-f]{2})*`
const QUOTED = new RegExp(`"(${TEXT})"`, 'g')
const OPEN = new RegExp(`^\\d+<(${TEXT})>`)

function callOf(text: string, folder: string): readonly TracedCall[] {
  const [, name = '', given = ''] = /^(\w+)\((.*)\)\s+= \d+/.exec(text) ?? []
  const texts = [...given.matchAll(QUOTED)].map(([, hex = '']) => bytesOf(hex))
  if (name === 'write' && given.startsWith('1<')) return [{ name: 'said', text: String(texts[0]) }]
  const open = OPEN.exec(given)?.[1]
  const own = open === undefined ? String(texts[0]) : String(bytesOf(open))
  if (own !== folder && !own.startsWith(`${folder}/`)) return []
  const last = Number(/, (\d+)$/.exec(given)?.[1])
  return CALLS[name]?.({ given, path: relative(folder, own), texts, last, folder }) ?? []
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex')
}

interface File {
  readonly folder: boolean
  synced: Buffer
  /** Since it was fsynced last. */
  unsynced: { readonly data: Buffer; readonly at: number | 'end' | 'truncate' }[]
}

/**
 * The files of the disk after these calls, by path: what was fsynced, and of what was not whatever `arrives`. A name is
 * there once its folder was fsynced after it was given, or arrives by itself.
 */
export function readDisk(calls: readonly TracedCall[], arrives: () => boolean): ReadonlyMap<string, Buffer> {
  const names = new Map<string, File>([['', { folder: true, synced: Buffer.alloc(0), unsynced: [] }]])
  const synced = new Map(names)
  for (const call of calls) if (call.name !== 'said') apply(call, names, synced)
  for (const [path, file] of names) if (!synced.has(path) && arrives()) synced.set(path, file)
  const files = [...synced].filter(([path, { folder }]) => !folder && isReached(path, synced))
  return new Map(files.map(([path, file]) => [path, contentOf(file, arrives)]))
}

function apply(call: Exclude<TracedCall, { name: 'said' }>, names: Map<string, File>, synced: Map<string, File>): void {
  const { path } = call
  const file = names.get(path)
  if (call.name === 'make' && file === undefined) {
    names.set(path, { folder: call.folder === true, synced: Buffer.alloc(0), unsynced: [] })
  }
  if (call.name === 'write') file?.unsynced.push({ data: call.data, at: call.at })
  if (call.name === 'truncate') names.get(path)?.unsynced.push({ data: Buffer.alloc(0), at: 'truncate' })
  if (call.name === 'remove') names.delete(path)
  if (call.name === 'rename' && file !== undefined) {
    names.delete(path)
    names.set(call.to, file)
  }
  if (call.name === 'sync' && file !== undefined) sync(path, file, names, synced)
}

function sync(path: string, file: File, names: Map<string, File>, synced: Map<string, File>): void {
  file.synced = contentOf(file, () => true)
  file.unsynced = []
  if (!file.folder) return
  const isIn = (one: string) => one !== '' && folderOf(one) === path
  for (const one of [...synced.keys()].filter(isIn)) if (!names.has(one)) synced.delete(one)
  for (const [one, entry] of names) if (isIn(one)) synced.set(one, entry)
}

function folderOf(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

function isReached(path: string, synced: ReadonlyMap<string, File>): boolean {
  return path === '' || (synced.has(path) && isReached(folderOf(path), synced))
}

function contentOf({ synced, unsynced }: File, arrives: () => boolean): Buffer {
  return unsynced.reduce((body: Buffer, { data, at }) => {
    if (!arrives()) return body
    if (at === 'truncate') return Buffer.alloc(0)
    const from = at === 'end' ? body.length : at
    const made = Buffer.alloc(Math.max(body.length, from + data.length))
    body.copy(made)
    data.copy(made, from)
    return made
  }, synced)
}
