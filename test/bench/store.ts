import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { shapesOf } from './shapes.ts'
import { LOADS } from './store-loads.ts'
import { type MeasuredStore, openStores } from './store-places.ts'
import { unitsOf } from './store-units.ts'

/**
 * The run store: events a second in SQLite and in the emulated DynamoDB, and what a block costs in units on AWS; each
 * beside the figures of before, which `--save` replaces. `npm run bench:store`, or `-- rates`, `-- units` alone. Times are
 * of this machine now: what can be compared are the ratios.
 */
const ROUNDS = 5
const SIZES = [10, 100, 1_000]
const FILE = join(import.meta.dirname, 'store-figures.json')

/** By row and column; of rates the higher is better, of units the lower. */
type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const before: Figures = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
  try {
    const figures = {
      ...(isAsked('rates') ? { machine: machine(), ...(await rates(folder)) } : {}),
      ...(isAsked('units') ? await units(folder) : {}),
    }
    show(figures, before)
    if (process.argv.includes('--save')) writeFileSync(FILE, `${JSON.stringify({ ...before, ...figures }, null, 2)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isAsked(part: 'rates' | 'units'): boolean {
  const named = process.argv.filter((word) => word === 'rates' || word === 'units')
  return named.length === 0 || named.includes(part)
}

/** Megabytes hashed a second, by which a slow moment of the machine is told from a slow store. */
function machine() {
  const body = Buffer.alloc(4_000_000, 'x')
  const hashed = Array.from({ length: 15 }, () => {
    const started = performance.now()
    createHash('sha256').update(body).digest()
    return 4_000 / (performance.now() - started)
  })
  return { 'MB hashed a second': median(hashed) }
}

/** In turns, so that a machine that is slow for a while is slow for both. */
async function rates(folder: string): Promise<Figures> {
  const stores = await openStores(folder)
  const seen = new Map<string, number[]>()
  for (const [n, load] of LOADS.entries()) {
    const opened = await Promise.all(
      stores.map(async ({ name, store }) => ({ name, round: await load.open(store, n + 1) })),
    )
    for (let i = 0; i < ROUNDS; i += 1) {
      for (const { name, round } of opened) {
        const key = `${load.name}|${name}`
        seen.set(key, [...(seen.get(key) ?? []), await round(i)])
      }
    }
  }
  for (const store of stores) await store.close()
  const of = (load: string, store: MeasuredStore['name']) => median(seen.get(`${load}|${store}`) ?? [])
  return Object.fromEntries(
    LOADS.map(({ name }) => {
      const [sqlite, emulator, memory] = [of(name, 'SQLite'), of(name, 'emulator'), of(name, 'in memory')]
      const ratios = { 'SQLite / emulator': sqlite / emulator, 'SQLite / in memory': sqlite / memory }
      return [name, { SQLite: sqlite, emulator, 'in memory': memory, ...ratios }]
    }),
  )
}

async function units(folder: string): Promise<Figures> {
  const rows: [string, Readonly<Record<string, number>>][] = []
  for (const n of SIZES) {
    for (const shape of shapesOf(n).filter(({ name }) => /^(chain|woven)/.test(name))) {
      rows.push([`${shape.name}, ${n} blocks`, { ...(await unitsOf(shape, folder)) }])
    }
  }
  return Object.fromEntries(rows)
}

function show(figures: Figures, before: Figures): void {
  for (const [row, values] of Object.entries(figures)) {
    const words = Object.entries(values).map(([column, value]) => {
      const was = before[row]?.[column]
      return `${column} ${figure(value)}${was === undefined ? '' : ` (${(value / was).toFixed(2)}x)`}`
    })
    print(`${row.padEnd(27)} ${words.join('   ')}`)
  }
  const many = Object.keys(before).length === 0 ? 'There are no figures of before.' : '(x): of the figures kept before.'
  print(many)
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
