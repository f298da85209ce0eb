import { parseArgs } from 'node:util'
import { killAtRandom } from './kill-nine.ts'

/**
 * npm run test:kill [points] [seed] [-- --any-speed]: kill -9 of the local server, by default at 200 random points. A resume
 * over the bar is told, and is a failure unless the machine does other things too (--any-speed, as in npm run test:all).
 */
const { values, positionals } = parseArgs({ options: { 'any-speed': { type: 'boolean' } }, allowPositionals: true })
const POINTS = Number(positionals[0] ?? 200)
const SEED = Number(positionals[1] ?? Date.now() % 100_000)
const BAR_MS = 2_000

const say = (line: string) => void process.stdout.write(`${line}\n`)
say(`${POINTS} kills, seed ${SEED}`)
const began = performance.now()
const { kills, runs, lost, wrong, sent_twice } = await killAtRandom(POINTS, SEED, say)
const percentile = (of: readonly number[], share: number) =>
  [...of].sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))]
const told = (name: string, of: readonly number[]) =>
  say(`${name.padEnd(34)} p50 ${percentile(of, 0.5)} ms, p95 ${percentile(of, 0.95)} ms, max ${Math.max(...of)} ms`)
told(
  'process started until it serves',
  kills.map(({ ready_ms }) => ready_ms),
)
told(
  'serving until every run has moved',
  kills.map(({ resumed_ms }) => resumed_ms),
)
const live = kills.reduce((sum, kill) => sum + kill.live, 0)
say(
  `${runs} runs, ${live} of them cut off, ${lost} attempts lost, ${Math.round((performance.now() - began) / 1_000)} s`,
)
const slow = kills.filter(({ resumed_ms }) => resumed_ms >= BAR_MS).length
for (const line of [...wrong, ...sent_twice.map((key) => `sent twice: ${key}`)]) say(line)
say(`${wrong.length} runs wrong, ${slow} resumes slower than ${BAR_MS} ms, ${sent_twice.length} keys sent twice`)
const tooSlow = values['any-speed'] === true ? 0 : slow
process.exitCode = wrong.length + tooSlow + sent_twice.length === 0 ? 0 : 1
