import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * `npm run test:all`: every suite there is, one after the other, and one closing count. `-- --after npm-test` leaves out what
 * was run before. `-- --seconds N` begins no suite that may not end in that time, and ends one that has not by then; both are
 * said, and no failure: what it had counted until then counts. Exit code 1: something failed.
 */
interface Suite {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Whole sets instead of the share that npm test draws (test/how-much.ts). */
  readonly whole?: true
  /** What it takes on a slow machine of two cores, in seconds. */
  readonly seconds: number
}

const node = (file: string, ...args: readonly string[]) => [process.execPath, file, ...args] as const
const vitest = (...args: readonly string[]) => node('node_modules/vitest/vitest.mjs', 'run', ...args)

const QUICK = ['unit', 'conformance', 'integration', 'e2e'].flatMap((name) => ['--project', name])

/** The one that finds most in the time it takes comes first. */
const SUITES: readonly Suite[] = [
  { name: 'npm-test', command: ['npm', 'test'], seconds: 900 },
  { name: 'aws', command: vitest('--project', 'aws', '--project', 'aws-rights'), seconds: 650 },
  { name: 'thorough', command: vitest('--tags-filter', 'thorough', ...QUICK), seconds: 800 },
  { name: 'faults', command: node('test/faults/main.ts', '--seeds', '2000'), seconds: 1_700 },
  { name: 'kill', command: node('test/e2e/kill-many.ts', '40', '--any-speed'), seconds: 180 },
  { name: 'differential', command: vitest('--project', 'faults', 'test/faults/item-store'), seconds: 650 },
  { name: 'slow', command: vitest('--project', 'slow'), seconds: 400 },
  // Every test file that draws a share in npm test, by itself or through a suite.
  {
    name: 'whole',
    command: node('node_modules/vitest/vitest.mjs', 'related', 'test/how-much.ts', '--run', ...QUICK),
    seconds: 910,
    whole: true,
  },
  { name: 'races', command: node('test/e2e/race-many.ts'), seconds: 300 },
  { name: 'load', command: node('test/e2e/load-many.ts'), seconds: 240 },
]

/** A suite that its time has ended. */
const CUT = 'cut'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values } = parseArgs({ options: { after: { type: 'string' }, seconds: { type: 'string' } } })
const first = SUITES.findIndex(({ name }) => name === values.after) + 1
if (values.after !== undefined && first === 0) {
  assert.fail(`--after is one of ${SUITES.map(({ name }) => name).join(', ')}, not ${values.after}`)
}

const began = Date.now()
const limit = Number(values.seconds ?? Number.POSITIVE_INFINITY)
const told: string[] = []
let passed = 0
let failed = 0
for (const suite of SUITES.slice(first)) {
  const gone = Math.round((Date.now() - began) / 1_000)
  if (gone + suite.seconds > limit) told.push(`${suite.name}: not run, ${gone} of ${limit} seconds are gone`)
  else told.push(await run(suite))
}
for (const line of told) say(line)
say(`${passed} passed, ${failed} failed`)
// What a suite that was cut off left behind is not waited for.
process.exit(failed === 0 && passed > 0 ? 0 : 1)

async function run({ name, command: [program, ...args], whole }: Suite): Promise<string> {
  say(`== ${name}: ${[program.replace(process.execPath, 'node'), ...args].join(' ')}`)
  const at = Date.now()
  const left = limit * 1_000 - (Date.now() - began)
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...(whole === true && { SLUICE_TESTS: 'whole' }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const counted = followLines(child)
  const code = await Promise.race([closed(child), endAfter(child, left)])
  const last = counted()
  if (code === CUT) {
    passed += Number(last?.[1] ?? 0)
    failed += Number(last?.[2] ?? 0)
    return `${name}: not ended, the ${limit} seconds are gone`
  }
  // A suite that counts nothing is one test; one that ends red without a failed test is one failure.
  const good = last === undefined ? Number(code === 0) : Number(last[1])
  const bad = Math.max(last === undefined ? 0 : Number(last[2]), Number(code !== 0))
  passed += good
  failed += bad
  return `${name}: ${good} right, ${bad} wrong, ${Math.round((Date.now() - at) / 1_000)} s`
}

type Running = ChildProcessByStdio<null, Readable, null>

/** Tells what a suite prints, its own count indented: the only line of that form is the last one. Answers the newest count. */
function followLines(child: Running): () => RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined
  let open = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    const lines = `${open}${piece}`.split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) last = countIn(line) ?? last
    say(lines.map((line) => (countIn(line) === undefined ? line : `  ${line}`)).join('\n'))
  })
  return () => last
}

function closed(child: Running): Promise<number> {
  return new Promise((done) => child.once('close', (code) => done(code ?? 1)))
}

/** Ends a suite when so many milliseconds are gone; what it started may hold its output open, and is not waited for. */
async function endAfter(child: Running, ms: number): Promise<typeof CUT> {
  if (!Number.isFinite(ms)) return new Promise(() => undefined)
  await pause(ms, undefined, { ref: false })
  child.kill()
  return CUT
}

function countIn(line: string): RegExpExecArray | undefined {
  return /^(\d+) passed, (\d+) failed/.exec(line) ?? undefined
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
