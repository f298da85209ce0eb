import { loadRuns, mb } from './load.ts'

/** npm run test:load [runs]: so many small runs at once on the local place, by default 1,000, three times over. */
const RUNS = Number(process.argv[2] ?? 1_000)
/** What the second thousand and the third may leave behind. */
const GROWTH_BYTES = 16 * 1_048_576

const say = (line: string) => void process.stdout.write(`${line}\n`)
const { rounds, wrong, together } = await loadRuns(RUNS, say)
for (const [i, { started_ms, ended_ms, heap, rss, wait_ms }] of rounds.entries()) {
  const rate = Math.round((RUNS * 1_000) / ended_ms)
  say(
    `round ${i + 1}: started in ${started_ms} ms, all ended after ${ended_ms} ms (${rate} runs/s), rss at most ${mb(rss)} MB, heap after ${mb(heap)} MB, others waited ${wait_ms} ms at most`,
  )
}
const growth = (rounds.at(-1)?.heap ?? 0) - (rounds[0]?.heap ?? 0)
for (const line of wrong) say(line)
say(
  `${together} at once, ${wrong.length} wrong, heap grew by ${(growth / 1_048_576).toFixed(1)} MB after the first round`,
)
process.exitCode = wrong.length === 0 && together === RUNS && growth <= GROWTH_BYTES ? 0 : 1
