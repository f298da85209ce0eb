import { afterEach, describe, expect, test } from 'vitest'
import type { MachineInput, MachineText, TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { OpenMachine } from './machine-fixture.ts'

const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
const DAY = 86_400_000

type Loose = Readonly<Record<string, unknown>>
type Place = Awaited<ReturnType<OpenMachine>>

const text = (states: Loose): string =>
  JSON.stringify({ QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0], States: states })
const see = (payload: unknown, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: { FunctionName: ['$', '{See}'].join(''), Payload: payload },
  Output: '{% $states.result.Payload %}',
  ...rest,
})
const ask = (rest: Loose = { End: true }): Loose => ({
  ...see({ token: '{% $states.context.Task.Token %}' }),
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Output: '{% $states.result %}',
  ...rest,
})
/** Starts part k as compiled machines do. */
const run = (k: number, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::states:startExecution.sync:2',
  Arguments: {
    StateMachineArn: `\${Part${k}}`,
    Name: `{% $states.context.Execution.Input.run_id & '-${k}' %}`,
    Input:
      '{% $merge([$states.context.Execution.Input, {"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": $states.context.Execution.Id}]) %}',
  },
  ...rest,
})
const part = (k: number, states: Loose): MachineText => ({ key: `Part${k}`, text: text(states) })
const always = (rest: Loose): readonly Loose[] => [{ ErrorEquals: ['States.ALL'], ...rest }]

/** Machines that are too large for one: what every Machine must do with the parts of it. */
export function partTests(name: string, open: OpenMachine): void {
  const opened: Place[] = []
  let hashes = 0
  afterEach(async () => {
    for (const place of opened.splice(0)) await place.close()
  })

  const start = async (main: Loose, ...parts: readonly MachineText[]) => {
    const seen: Json[] = []
    const tokens: string[] = []
    const place = await open({
      See: (payload) => {
        if (typeof payload === 'object' && payload !== null && 'token' in payload) tokens.push(String(payload.token))
        else seen.push(payload)
        return payload
      },
    })
    opened.push(place)
    hashes += 1
    const id = await place.machine.ensure(text(main), `${hashes}`.padStart(64, '0'), parts)
    await place.machine.start({ machine: id, name: 'run_a', input: INPUT })
    await place.clock.settle()
    return {
      ...place,
      id,
      seen,
      tokens,
      now: () => place.machine.describe(id, 'run_a'),
      async answer(answer: TokenAnswer, index = 0) {
        const answered = await place.machine.answer(tokens[index] ?? 'none', answer)
        await place.clock.settle()
        return answered
      },
    }
  }

  describe(`${name}: parts`, () => {
    test('a part is an execution of its own with the same input, and the name of the one it belongs to; the machine waits for its end and gets its output', async () => {
      const context = '{% {"input": $states.context.Execution.Input, "name": $states.context.Execution.Name} %}'
      const { seen, now } = await start(
        { A: run(1, { Output: '{% $states.result.Output %}', Next: 'B' }), B: see('{% $states.input %}') },
        part(1, { C: see(context) }),
      )
      const AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID = expect.stringMatching(/:run_a$/)
      const inside = { input: { ...INPUT, AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID }, name: 'run_a-1' }
      expect(seen).toEqual([inside, inside])
      expect(await now()).toMatchObject({ status: 'SUCCEEDED' })
    })

    test('a part may start parts', async () => {
      const { seen, now } = await start(
        { A: run(2, { Next: 'B' }), B: see('after') },
        part(1, { C: see('inner') }),
        part(2, { D: see('outer', { Next: 'E' }), E: run(1) }),
      )
      expect(seen).toEqual(['outer', 'inner', 'after'])
      expect(await now()).toMatchObject({ status: 'SUCCEEDED' })
    })

    test('while a part waits, so does the machine; a token of the part can be answered', async () => {
      const place = await start({ A: run(1, { Next: 'B' }), B: see('after') }, part(1, { C: ask() }))
      await place.clock.advance(DAY)
      expect([await place.now(), place.seen]).toMatchObject([{ status: 'RUNNING' }, []])
      expect(await place.answer({ ok: {} })).toBe('taken')
      expect([await place.now(), place.seen]).toMatchObject([{ status: 'SUCCEEDED' }, ['after']])
    })

    test('a part that fails is States.TaskFailed, which nothing of ours retries: the machine fails', async () => {
      const Retry = [{ ErrorEquals: ['StepFunctions.ServiceException'], IntervalSeconds: 1, MaxAttempts: 3 }]
      const place = await start(
        { A: run(1, { Retry, Next: 'B' }), B: see('after') },
        part(1, { C: see('inside', { Next: 'F' }), F: { Type: 'Fail', Error: 'Oops', Cause: 'because' } }),
      )
      await place.clock.advance(DAY)
      const now = await place.now()
      expect([now?.status, now?.error, place.seen]).toEqual(['FAILED', 'States.TaskFailed', ['inside']])
      expect(now?.cause).toContain('Oops')
    })

    test('a second start of the same name while it runs waits for the one that runs', async () => {
      const branches = ['A', 'B'].map((one) => ({ StartAt: one, States: { [one]: run(1) } }))
      const place = await start(
        { P: { Type: 'Parallel', Branches: branches, Output: {}, Next: 'Z' }, Z: see('after') },
        part(1, { C: ask() }),
      )
      expect(place.tokens).toHaveLength(1)
      await place.answer({ ok: {} })
      expect([await place.now(), place.seen]).toMatchObject([{ status: 'SUCCEEDED' }, ['after']])
    })

    test('a name whose execution has ended is taken: nothing of it runs again', async () => {
      const name = ['StepFunctions.ExecutionAlreadyExistsException']
      const place = await start(
        {
          A: run(1, { Next: 'B' }),
          B: run(1, { Catch: [{ ErrorEquals: name, Output: {}, Next: 'Z' }], Next: 'Y' }),
          Y: see('ran again'),
          Z: see('taken'),
        },
        part(1, { C: see('inside') }),
      )
      expect(place.seen).toEqual(['inside', 'taken'])
    })

    test('stop() stops the parts, nested ones too: no token of them can be answered, no later state runs', async () => {
      const branches = [
        { StartAt: 'A', States: { A: run(2) } },
        { StartAt: 'B', States: { B: run(3) } },
      ]
      const place = await start(
        { P: { Type: 'Parallel', Branches: branches, Output: {}, Next: 'Z' }, Z: see('after') },
        part(1, { C: ask({ Next: 'D' }), D: see('after C') }),
        part(2, { E: run(1, { Next: 'F' }), F: see('after part 1') }),
        part(3, { G: ask({ Next: 'H' }), H: see('after G') }),
      )
      expect(place.tokens).toHaveLength(2)
      await place.machine.stop(place.id, 'run_a', 'a person asked')
      await place.clock.settle()
      expect(await place.now()).toMatchObject({ status: 'ABORTED', cause: 'a person asked' })
      expect([await place.answer({ ok: {} }, 0), await place.answer({ ok: {} }, 1)]).toEqual(['gone', 'gone'])
      await place.clock.advance(DAY)
      expect(place.seen).toEqual([])
    })

    test('a part whose branch lost its Parallel is aborted', async () => {
      const fails = { Type: 'Wait', Seconds: 60, Next: 'F' }
      const branches = [
        { StartAt: 'A', States: { A: run(1) } },
        { StartAt: 'B', States: { B: fails, F: { Type: 'Fail', Error: 'Oops' } } },
      ]
      const Catch = always({ Output: {}, Next: 'Z' })
      const place = await start(
        { P: { Type: 'Parallel', Branches: branches, Catch, Next: 'Z' }, Z: see('caught') },
        part(1, { C: ask({ Next: 'D' }), D: see('after C') }),
      )
      await place.clock.advance(60_000)
      expect(place.seen).toEqual(['caught'])
      expect(await place.answer({ ok: {} })).toBe('gone')
    })

    test('two runs of one machine have parts of their own', async () => {
      const place = await start({ A: run(1) }, part(1, { C: ask() }))
      await place.machine.start({ machine: place.id, name: 'run_b', input: { ...INPUT, run_id: 'run_b' } })
      await place.clock.settle()
      await place.answer({ ok: {} }, 0)
      expect(await place.now()).toMatchObject({ status: 'SUCCEEDED' })
      expect(await place.machine.describe(place.id, 'run_b')).toEqual({ status: 'RUNNING' })
      await place.answer({ ok: {} }, 1)
      expect(await place.machine.describe(place.id, 'run_b')).toMatchObject({ status: 'SUCCEEDED' })
    })
  })
}
