import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One source file: its lines, what it exports, and the files it reads (imports, lazy ones and types too). */
export interface Room {
  readonly path: string
  readonly lines: number
  readonly exports: readonly string[]
  readonly functions: readonly string[]
  readonly reads: ReadonlySet<string>
  /** Those of them that are loaded when they are needed. */
  readonly lazily: ReadonlySet<string>
  readonly words: ReadonlyMap<string, number>
}

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const FOLDERS = ['shared', 'functions', 'infra', 'clients']
const EXPORT = /^export (?:async )?(?:function\*?|const|class|abstract class|interface|type|enum) (\w+)/gm
const FUNCTION = /^(?:export )?(?:async )?function\*? (\w+)/gm

/** Every source file of the product, without tests, scripts and generated files. */
export function readHouse(): readonly Room[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.generated.'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      .filter((path) => !path.includes('node_modules')),
  )
  const there = new Set(files)
  return files.map((path) => readRoom(path, there))
}

function readRoom(path: string, there: ReadonlySet<string>): Room {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
  const named = (form: RegExp) =>
    [...code.matchAll(form)]
      .map(([, name = '']) => normalize(join(dirname(path), name)))
      .filter((name) => there.has(name))
  const words = new Map<string, number>()
  for (const [word] of code.replace(/^import[\s\S]*?from '.*'$/gm, '').matchAll(/\b[A-Za-z_]\w*\b/g))
    words.set(word, (words.get(word) ?? 0) + 1)
  return {
    path,
    lines: text.split('\n').length - 1,
    exports: [...code.matchAll(EXPORT)].map(([, name = '']) => name),
    functions: [...code.matchAll(FUNCTION)].map(([, name = '']) => name),
    reads: new Set(named(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)),
    lazily: new Set(named(/import\(\s*'(\.[^']+)'/g)),
    words,
  }
}

/** The table of the house, a line a figure. */
export function figuresOf(house: readonly Room[], { folders }: { readonly folders: boolean }): readonly string[] {
  const lines = house.map((room) => room.lines).toSorted((a, b) => a - b)
  const at = (share: number) => lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0
  const total = lines.reduce((sum, count) => sum + count, 0)
  const percent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`
  const functions = house.flatMap((room) => room.functions)
  const alone = house.flatMap((room) => oneNeighbour(room, house))
  const circles = circlesOf(house)
  const up = bothWays(house)
  return [
    `files ${house.length}, lines ${total}, mean ${Math.round(total / house.length)}`,
    `lines of a file: median ${at(0.5)}, nine in ten below ${at(0.9)}, most ${at(1)}`,
    `read by one file beside them: ${percent(alone.length, house.length)}`,
    `  that are no row of a registry and not loaded when needed: ${percent(paragraphs(alone).length, house.length)}`,
    `functions used once: ${percent(usedOnce(house), functions.length)} of ${functions.length}`,
    `exports ${house.reduce((sum, room) => sum + room.exports.length, 0)}`,
    `circles, types included: ${circles.length}`,
    ...circles.map((circle) => `  ${circle.join(', ')}`),
    `pairs of folders in shared/ and functions/ that read each other: ${up.length}`,
    ...up.map((pair) => `  ${pair}`),
    ...(folders ? folderLines(house) : []),
  ]
}

/** A file that one file beside it reads, and nobody else. */
interface Alone {
  readonly path: string
  readonly reader: Room
}

function oneNeighbour({ path }: Room, house: readonly Room[]): readonly Alone[] {
  const [reader, ...others] = house.filter(({ reads }) => reads.has(path))
  const isBeside = reader !== undefined && others.length === 0 && dirname(reader.path) === dirname(path)
  return isBeside ? [{ path, reader }] : []
}

/** A file that gathers so many others that nobody else reads is a registry, and they are its rows. */
const ROWS = 4

/** Those that might as well stand in the file that reads them. */
function paragraphs(alone: readonly Alone[]): readonly Alone[] {
  const rows = (reader: Room) => alone.filter((one) => one.reader === reader).length
  return alone.filter(({ path, reader }) => !reader.lazily.has(path) && rows(reader) < ROWS)
}

/** Named once besides their declaration, anywhere in the product. */
function usedOnce(house: readonly Room[]): number {
  const uses = new Map<string, number>()
  for (const { words } of house) for (const [word, count] of words) uses.set(word, (uses.get(word) ?? 0) + count)
  return house.flatMap((room) => room.functions).filter((name) => uses.get(name) === 2).length
}

/** Groups of files each of which reaches each other one (Tarjan, 1972). */
function circlesOf(house: readonly Room[]): readonly (readonly string[])[] {
  const rooms = new Map(house.map((room) => [room.path, room]))
  const seen = new Map<string, { index: number; low: number; open: boolean }>()
  const stack: string[] = []
  const circles: string[][] = []
  const enter = (path: string): number => {
    const mine = { index: seen.size, low: seen.size, open: true }
    seen.set(path, mine)
    stack.push(path)
    for (const next of rooms.get(path)?.reads ?? []) {
      const known = seen.get(next)
      if (known === undefined) mine.low = Math.min(mine.low, enter(next))
      else if (known.open) mine.low = Math.min(mine.low, known.index)
    }
    if (mine.low === mine.index) close(path)
    return mine.low
  }
  const close = (path: string) => {
    const circle = stack.splice(stack.lastIndexOf(path))
    for (const member of circle) {
      const known = seen.get(member)
      if (known !== undefined) known.open = false
    }
    if (circle.length > 1) circles.push(circle)
  }
  for (const { path } of house) if (!seen.has(path)) enter(path)
  return circles
}

/** `shared/runs, shared/dag`: folders right below shared/ and functions/, and files beside them, that read each other both ways. */
function bothWays(house: readonly Room[]): readonly string[] {
  const arrows = new Set<string>()
  for (const room of house) {
    for (const read of room.reads) {
      const [from, to] = [roomFolder(room.path), roomFolder(read)]
      if (from !== to && from.split('/')[0] === to.split('/')[0]) arrows.add(`${from} ${to}`)
    }
  }
  return [...arrows]
    .map((arrow) => arrow.split(' '))
    .filter(([from = '', to = '']) => from < to && arrows.has(`${to} ${from}`))
    .map((pair) => pair.join(', '))
    .toSorted()
}

function roomFolder(path: string): string {
  const [top = '', folder = ''] = path.split('/')
  return `${top}/${folder}`
}

function folderLines(house: readonly Room[]): readonly string[] {
  const by = Map.groupBy(house, ({ path }) => dirname(path))
  return [...by]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([folder, rooms]) =>
        `  ${folder}: ${rooms.length} files, ${rooms.reduce((sum, { lines }) => sum + lines, 0)} lines`,
    )
}
