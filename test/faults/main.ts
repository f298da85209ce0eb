import { parseArgs } from 'node:util'
import { loadHandlers } from './functions.ts'
import type { Profile } from './scenario.ts'
import { simulate } from './simulate.ts'
import type { StoreKind } from './system.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    profile: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})
await loadHandlers()
const from = Number(values.seed ?? 1)
const to = values.seed === undefined ? Number(values.seeds) : from
const began = performance.now()
let steps = 0
const ends = new Map<string, number>()
for (let seed = from; seed <= to; seed += 1) {
  const outcome = await simulate({
    seed,
    store: values.store as StoreKind,
    verbose: values.verbose,
    ...(values.profile === undefined ? {} : { profile: values.profile as Profile }),
  })
  steps += outcome.steps
  for (const events of outcome.logs.values()) {
    const end = events.at(-1)
    const word = `${outcome.scenario.profile} ${end?.type} ${(end?.data as { code?: string })?.code ?? ''}`
    ends.set(word, (ends.get(word) ?? 0) + 1)
  }
  if (outcome.violations.length > 0) {
    console.log(`seed ${seed} ${outcome.scenario.profile}: ${outcome.violations.join('\n  ')}`)
  }
  if (values.seed !== undefined) {
    console.log(outcome.lines.join('\n'))
    for (const [id, events] of outcome.logs)
      console.log(
        `${id}\n${events.map((e) => `  ${e.seq} ${e.at} ${e.type} ${e.block_id ?? ''}${e.item === undefined ? '' : `.${e.item}`} ${e.attempt ?? ''} ${JSON.stringify(e.data).slice(0, 160)}`).join('\n')}`,
      )
    console.log(outcome.digest, outcome.steps, outcome.events)
  }
}
console.log(
  `${to - from + 1} seeds, ${Math.round((performance.now() - began) / (to - from + 1))} ms and ${Math.round(steps / (to - from + 1))} steps a seed`,
)
for (const [word, n] of [...ends].sort()) console.log(`${n} ${word}`)
