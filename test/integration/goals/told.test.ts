import { afterEach, expect, test } from 'vitest'
import { PROMPT_TEMPLATES } from '../../../shared/prompts/templates.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'
import { QUIET } from './goal-place.ts'

/** What agents of a run with a goal contract are told of it: their models, not text tools. */
let place: TestPlace | undefined
afterEach(async () => place?.close())

const contract = (target = 0.9) => ({
  goal_text: 'Be right nine times of ten',
  acceptance_criteria: [{ id: 'AC1', kind: 'metric_threshold', metric: 'accuracy', op: '>=', target }],
})
const agent = (more: object = {}) => ({ provider: 'probe', model: 'm', prompt: 'Do the work.', ...more })
const WORK = { id: 'work', outputs: { text: 'string' }, agent: agent() }
const judged = (blocks: readonly object[], more: object = {}) => ({
  name: 'told',
  goal_contract: contract(),
  completion: { trust: { from: 'verify.score' } },
  blocks,
  ...more,
})
const VERIFY = {
  id: 'verify',
  inputs: { text: { from: 'work.text' } },
  outputs: { score: 'json' },
  agent: agent({ prompt: 'Verify.' }),
}

async function open(answer: (prompt: string) => string) {
  const prompts: string[] = []
  const systems: (string | undefined)[] = []
  const probe = provider(({ prompt, system }) => {
    prompts.push(prompt)
    systems.push(system)
    return answer(prompt)
  })
  place = await openTestPlace({ ...QUIET, providers: { probe } })
  return { place, prompts, systems }
}
const scoring = (prompt: string) => (prompt.startsWith('Verify') ? '90' : '[METRIC:accuracy] 0.93')
const end = (events: readonly RunEvent[]) => events.at(-1)
const hashes = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'block:output' ? [event.data.prompt_hash] : []))

test('a worker is told the criteria and how to say evidence, its verifier that a verdict is none', async () => {
  const { place: at, prompts } = await open(scoring)
  const events = await at.ended(await at.start(judged([WORK, VERIFY])))
  expect(end(events)).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
  const [work = '', verify = ''] = prompts
  for (const prompt of [work, verify]) {
    expect(prompt).toContain('Be right nine times of ten')
    expect(prompt).toContain('- AC1: the metric accuracy >= 0.9')
  }
  expect(work.startsWith('Do the work.\n\nThe run you work in has a goal.')).toBe(true)
  expect([work, verify].map((prompt) => prompt.includes('How to say evidence'))).toEqual([true, false])
  expect(verify).toContain('no evidence for the goal')
  const again = await at.ended(await at.start(judged([WORK, VERIFY])))
  expect(hashes(again)).toEqual(hashes(events))
})

test('a shipped text for its part stands before that, as the system text', async () => {
  const { place: at, systems } = await open(scoring)
  const blocks = [
    { ...WORK, agent: agent({ prompt_template: 'worker' }) },
    { ...VERIFY, agent: agent({ prompt: 'Verify.', prompt_template: 'verifier', system: 'Be brief.' }) },
  ]
  const events = await at.ended(await at.start(judged(blocks)))
  expect(end(events)?.data).toMatchObject({ final_status: 'SUCCESS' })
  const { worker, verifier } = PROMPT_TEMPLATES
  expect(systems).toEqual([worker, `${verifier}\n\nBe brief.`])
})

test('the contract of the request is the one that is told, with its target', async () => {
  const { place: at, prompts } = await open(scoring)
  await at.ended(await at.start(judged([WORK, VERIFY]), { goal_contract: contract(0.5) }))
  expect(prompts[0]).toContain('- AC1: the metric accuracy >= 0.5')
})

test('a model that only repeats what it was told has shown nothing', async () => {
  const { place: at } = await open((prompt) => (prompt.startsWith('Verify') ? '90' : prompt))
  const events = await at.ended(await at.start(judged([WORK, VERIFY])))
  expect(end(events)?.data).toMatchObject({ final_status: 'PARTIAL' })
})

test('a run without a contract, and a text tool, are told nothing', async () => {
  const { place: at, prompts } = await open(scoring)
  const { goal_contract: _, ...without } = judged([WORK, VERIFY]) as { goal_contract: object }
  await at.ended(await at.start(without))
  expect(prompts[0]).toBe('Do the work.')
  const tool = { ...WORK, agent: agent({ provider: 'local', model: 'outline' }) }
  const told = await at.ended(await at.start(judged([tool, VERIFY])))
  const plain = await at.ended(await at.start({ blocks: [tool] }))
  expect(hashes(told)[0]).toBe(hashes(plain)[0])
})

test('what was kept of a run with another goal is no result of this one', async () => {
  const { place: at, prompts } = await open(scoring)
  const kept = { ...WORK, cache: { max_age_sec: 600 } }
  const runWith = async (target: number) =>
    at.ended(await at.start(judged([kept, VERIFY]), { goal_contract: contract(target) }))
  await runWith(0.9)
  await runWith(0.9)
  await runWith(0.8)
  expect(prompts.filter((prompt) => prompt.startsWith('Do the work'))).toHaveLength(2)
})
