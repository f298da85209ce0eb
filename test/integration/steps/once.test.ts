import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asked, decide, expectVerified } from '../asks/ask-place.ts'
import { all, module, noneLeft, openStepPlace, type StepPlace, stepBlock } from './step-place.ts'

/** Its first attempt says that it works and ends never; later ones return. */
const PAYS = module(
  `
  appendFileSync(OUT + '/attempts', call.attempt + ' ' + call.key + '\\n')
  if (call.attempt > 1) return { text: 'paid by ' + call.attempt }
  call.progress(0.4, 'row 4 of 10')
  await never()`,
  { more: `effect: 'once',` },
)

/** Two of its items work and never end in their first attempt. */
const EACH = module(
  `if (call.attempt === 1 && call.inputs.n > 1) { call.progress(0.5); await never() }
   return { text: 'row ' + call.inputs.n }`,
  { inputs: 'n: z.number()', more: `effect: 'once',` },
)

/** The first attempt of each is cut off. */
const CRASHES = module(`if (call.attempt === 1) process.exit(3); return { text: 'ok' }`, { more: `effect: 'once',` })
const SLOW = module(
  `if (call.attempt === 1) await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
   return { text: 'ok' }`,
  { more: `effect: 'once',` },
)

let place: StepPlace
/** Runs that were all lost in the middle, when their place was killed: each is one test's. */
let lost: { readonly yes: string; readonly no: string; readonly stopped: string; readonly items: string }
let cutOff: Promise<string>

beforeAll(async () => {
  place = await openStepPlace({
    'steps/pay.ts': PAYS,
    'steps/each.ts': EACH,
    'steps/crash.ts': CRASHES,
    'steps/slow.ts': SLOW,
  })
  const pay = (more: object) => place.start({ name: 'pay', blocks: [stepBlock('pay', './steps/pay.ts', more)] })
  lost = {
    yes: await pay({ retry: { max_attempts: 3 } }),
    no: await pay({ retry: { max_attempts: 3 } }),
    stopped: await pay({}),
    items: await place.start({
      name: 'each',
      blocks: [stepBlock('each', './steps/each.ts', { foreach: { items: [1, 2, 3], as: 'n', max_concurrency: 3 } })],
    }),
  }
  for (const run of [lost.yes, lost.no, lost.stopped]) await place.until(run, ({ type }) => type === 'step:progress')
  for (const item of [1, 2]) {
    await place.until(lost.items, (event) => event.type === 'step:progress' && event.item === item)
  }
  await place.until(lost.items, ({ type, item }) => type === 'block:completed' && item === 0)
  await place.kill()
  // The second attempt of a slow one has to end in time on a slow machine too: meanwhile the others are tested.
  cutOff = place.start({
    name: 'pay',
    blocks: [stepBlock('crash', './steps/crash.ts'), stepBlock('slow', './steps/slow.ts', { timeout_ms: 5_000 })],
  })
})
afterAll(async () => {
  await noneLeft(place)
  await place.close()
})

/** `<attempt> <key>` of each that a run made. */
const attemptsOf = async (run: string) =>
  (await place.left('attempts'))
    .trim()
    .split('\n')
    .filter((line) => line.includes(run))

describe('a step with effect: once', () => {
  test('is not made again when it was lost in the middle: a person is asked, and told what is known', async () => {
    const { yes: run } = lost
    const question = await asked(place, run, 'pay')
    expect(question.about).toBe('lost_step')
    const { json } = await place.call('list-approvals', run)
    const { approvals } = json as unknown as { approvals: readonly { run_id: string; prompt: string }[] }
    const prompt = approvals.find(({ run_id }) => run_id === run)?.prompt
    const [first = ''] = await attemptsOf(run)
    const [, key] = first.split(' ')
    expect(prompt).toContain('may be done once only')
    expect(prompt).toContain('40 %, "row 4 of 10"')
    expect(prompt).toContain(`its key, by which a service may know it: ${key}`)
    expect(prompt).toContain('A yes lets it be done again, as attempt 2. A no fails the block (step_effect_unknown).')
    expect((await decide(place, run, question, 'approve')).status).toBe(200)
    const events = await place.ended(run)
    expect(all(events, 'block:retrying').map(({ data }) => data.code)).toEqual(['ATTEMPT_LOST'])
    expect(all(events, 'step:started').map(({ attempt }) => attempt)).toEqual([1, 2])
    // Whoever books by the key finds the attempt that was lost.
    expect(await attemptsOf(run)).toEqual([`1 ${key}`, `2 ${key}`])
    expect(events.at(-1)?.type).toBe('run:completed')
    await expectVerified(place, run)
  })

  test('fails when the person says no, and nothing of it begins again', async () => {
    const { no: run } = lost
    const question = await asked(place, run, 'pay')
    expect((await decide(place, run, question, 'waive', 'it did')).json).toMatchObject({ code: 'nothing_to_waive' })
    await decide(place, run, question, 'reject', 'the bank has it')
    const events = await place.ended(run)
    const [failed] = all(events, 'block:failed')
    expect(failed?.data.code).toBe('step_effect_unknown')
    expect(failed?.data.reason).toContain('the bank has it')
    expect(all(events, 'step:started')).toHaveLength(1)
    await expectVerified(place, run)
  })

  test('is tried again by its policy when it says itself that it failed', async () => {
    const fails = module(`if (call.attempt === 1) throw new Error('no'); return { text: 'ok' }`, {
      more: `effect: 'once',`,
    })
    place.write('steps/fails.ts', fails)
    const run = await place.start({
      name: 'fails',
      blocks: [stepBlock('a', './steps/fails.ts', { retry: { max_attempts: 2, delay_ms: 0 } })],
    })
    const events = await place.ended(run)
    expect(all(events, 'block:asked')).toEqual([])
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('asks once for the items that were lost together, and makes them again after the yes', async () => {
    const { items: run } = lost
    const question = await asked(place, run, 'each')
    await decide(place, run, question, 'approve')
    let events = await place.events(run)
    // An item that was found lost only after the answer asks anew.
    for (let n = 2; events.at(-1)?.type !== 'run:completed' && n < 4; n += 1) {
      await place.until(run, ({ type, data }) => {
        return type === 'run:completed' || (type === 'approval:requested' && data.approval_id.endsWith(`_a${n}`))
      })
      events = await place.events(run)
      const next = all(events, 'approval:requested').find(({ data }) => data.approval_id.endsWith(`_a${n}`))
      if (next !== undefined) await decide(place, run, next.data, 'approve')
    }
    events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    const began = all(events, 'step:started').map(({ item, attempt }) => `${item}/${attempt}`)
    expect(began.toSorted()).toEqual(['0/1', '1/1', '1/2', '2/1', '2/2'])
    await expectVerified(place, run)
  })

  test('can be stopped while the question is open', async () => {
    const { stopped: run } = lost
    await asked(place, run, 'pay')
    await place.call('stop-run', run, {})
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:cancelled')
    expect(all(events, 'step:started')).toHaveLength(1)
    await expectVerified(place, run)
  })

  test('asks when it was cut off by its time-out or by a crash, whether a try is left or not', async () => {
    const run = await cutOff
    for (const id of ['crash', 'slow']) await decide(place, run, await asked(place, run, id), 'approve')
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'step:started')).toHaveLength(4)
    await expectVerified(place, run)
  })
})
