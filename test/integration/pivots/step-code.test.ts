import { afterEach, expect, test } from 'vitest'
import { judgedRun, QUIET } from '../goals/goal-place.ts'
import { openStepPlace, type StepPlace } from '../steps/step-place.ts'
import { HIGH, LOW, missingDag, nextOf, problemsOf } from './pivot-place.ts'

/** The next attempt at a goal runs the code there is then, as a retry does. */
let place: StepPlace
afterEach(() => place.close())

const says = (text: string) => `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({ inputs: z.object({}), outputs: z.object({ text: z.string() }), run: () => ({ text: '${text}' }) })
`
const withStep = (pivot: 'manual' | 'auto') => {
  const dag = missingDag(pivot) as { readonly blocks: readonly object[] }
  const work = {
    id: 'work',
    mode: 'deterministic',
    deterministic: { handler: './steps/work.ts' },
    outputs: { text: 'string' },
  }
  return { ...dag, inputs: { score: { type: 'json', default: 90 } }, blocks: [work, ...dag.blocks.slice(1)] }
}

test('whoever mends a step and pivots its run runs what was mended; one that is gone is refused by name', async () => {
  place = await openStepPlace({ 'steps/work.ts': says(LOW) }, {}, QUIET)
  const id = await place.start(withStep('manual'))
  expect((await place.ended(id)).at(-1)?.type).toBe('run:partial')
  place.write('steps/work.ts', 'no module')
  expect(await place.call('pivot-run', id, {})).toMatchObject({
    status: 400,
    json: {
      code: 'unknown_step',
      detail: expect.stringContaining('Cannot pivot: block "work" names "./steps/work.ts"'),
    },
  })
  place.write('steps/work.ts', says(HIGH))
  expect((await place.call('pivot-run', id, {})).status).toBe(201)
  const second = await judgedRun(place, nextOf(id))
  expect(second.end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
  for (const run of [id, nextOf(id)]) expect(await problemsOf(place, run)).toEqual([])
})

test('a run that pivots by itself takes what was mended meanwhile', async () => {
  place = await openStepPlace({ 'steps/work.ts': says(LOW) }, {}, QUIET)
  const dag = withStep('auto')
  const asks = { id: 'ask', mode: 'approval', depends: 'work.succeeded', approval: { prompt: 'Go on?' } }
  const id = await place.start({ ...dag, blocks: [...dag.blocks, asks] })
  const asked = await place.until(id, ({ type }) => type === 'approval:requested')
  place.write('steps/work.ts', says(HIGH))
  if (asked.type !== 'approval:requested') throw new Error('nobody was asked')
  const { approval_id, digest } = asked.data
  const answer = await place.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
  expect(answer.status).toBe(200)
  expect((await place.ended(id)).at(-1)?.type).toBe('run:partial')
  const next = nextOf(id)
  const output = await place.until(next, ({ type, block_id }) => type === 'block:output' && block_id === 'work')
  const ref = output.type === 'block:output' ? (output.data.outputs.text?.ref ?? '') : ''
  expect(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8')).toBe(JSON.stringify(HIGH))
})
