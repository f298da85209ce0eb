import { afterEach, describe, expect, test } from 'vitest'
import type { ClearLimits, MachineInput } from '../../../shared/runs/machine.ts'
import type { OpenMachine } from './machine-fixture.ts'

const DAY_MS = 86_400_000
const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }

const ask = {
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  // A placeholder, not a template.
  Arguments: { FunctionName: ['$', '{Ask}'].join(''), Payload: { token: '{% $states.context.Task.Token %}' } },
  End: true,
}
const textOf = (name: string) =>
  JSON.stringify({ QueryLanguage: 'JSONata', Comment: name, StartAt: 'a', States: { a: ask } })
const hashOf = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0')

/** What every Machine must keep to when it removes what nothing needs. */
export function clearTests(name: string, open: OpenMachine): void {
  const opened: Awaited<ReturnType<OpenMachine>>[] = []
  afterEach(async () => {
    for (const place of opened.splice(0)) await place.close()
  })

  const place = async () => {
    const tokens: string[] = []
    const { machine, clock, close } = await open({
      Ask: (payload) => {
        tokens.push((payload as { token: string }).token)
        return null
      },
    })
    opened.push({ machine, clock, close })
    const ensure = (document: string) => machine.ensure(textOf(document), hashOf(document))
    return {
      machine,
      clock,
      tokens,
      ensure,
      start: (id: string, run: string) =>
        machine.start({ machine: id, name: run, input: { ...INPUT, run_id: run } }).then(async (answer) => {
          await clock.settle()
          return answer
        }),
      clear: (limits: Partial<ClearLimits> = {}) =>
        machine.clear({ unused_since: clock.now() - 7 * DAY_MS, most: 1_000, crowded_since: clock.now(), ...limits }),
    }
  }
  const gone = { name: 'NotFound', code: 'machine_unknown' }

  describe(`${name}: machines that nothing needs`, () => {
    test('are removed when they were not used for long; a start finds none and makes it again', async () => {
      const { ensure, start, clear, clock } = await place()
      const id = await ensure('a')
      expect(await clear()).toBe(0)
      await clock.advance(8 * DAY_MS)
      expect(await clear()).toBe(1)
      expect(await clear()).toBe(0)
      await expect(start(id, 'run_a')).rejects.toMatchObject(gone)
      expect(await ensure('a')).toBe(id)
      expect(await start(id, 'run_a')).toBe('started')
    })

    test('are not those on which something runs, however long; when it has ended they are', async () => {
      const { machine, ensure, start, clear, clock, tokens } = await place()
      const id = await ensure('a')
      await start(id, 'run_a')
      await clock.advance(300 * DAY_MS)
      expect(await clear()).toBe(0)
      expect(await machine.answer(tokens[0] ?? '', { ok: {} })).toBe('taken')
      await clock.advance(8 * DAY_MS)
      expect(await clear()).toBe(1)
    })

    test('are not those that were made or asked for lately', async () => {
      const { ensure, start, clear, clock } = await place()
      const id = await ensure('a')
      await clock.advance(6 * DAY_MS)
      await ensure('b')
      await clock.advance(2 * DAY_MS)
      expect(await clear()).toBe(1)
      await expect(start(id, 'run_a')).rejects.toMatchObject(gone)
      expect(await start(await ensure('b'), 'run_b')).toBe('started')
    })

    test('are the longest unused where there are too many', async () => {
      const { ensure, start, clear, clock } = await place()
      const ids: string[] = []
      for (const document of ['a', 'b', 'c', 'd']) {
        ids.push(await ensure(document))
        await clock.advance(3_600_000)
      }
      expect(await clear({ most: 2, crowded_since: clock.now() - 3.5 * 3_600_000 })).toBe(1)
      expect(await clear({ most: 2 })).toBe(1)
      expect(await clear({ most: 2 })).toBe(0)
      const [a = '', b = '', c = '', d = ''] = ids
      for (const id of [a, b]) await expect(start(id, 'run_a')).rejects.toMatchObject(gone)
      for (const id of [c, d]) expect(await start(id, 'run_a')).toBe('started')
    })

    test('go with their parts, and come back with them', async () => {
      const { machine, start, clear, clock, tokens } = await place()
      const part = { Type: 'Task', Resource: 'arn:aws:states:::states:startExecution.sync:2', End: true }
      const Arguments = {
        StateMachineArn: ['$', '{Part1}'].join(''),
        Name: '{% $states.context.Execution.Name & "-1" %}',
      }
      const Input = '{% $states.context.Execution.Input %}'
      const whole = { ...part, Arguments: { ...Arguments, Input } }
      const text = JSON.stringify({ QueryLanguage: 'JSONata', StartAt: 'p', States: { p: whole } })
      const made = () => machine.ensure(text, hashOf('whole'), [{ key: 'Part1', text: textOf('part') }])
      const id = await made()
      await start(id, 'run_a')
      await clock.advance(8 * DAY_MS)
      expect(await clear()).toBe(0)
      await machine.answer(tokens[0] ?? '', { ok: {} })
      await clock.advance(8 * DAY_MS)
      expect(await clear()).toBe(1)
      await expect(start(id, 'run_b')).rejects.toMatchObject(gone)
      expect(await made()).toBe(id)
      await start(id, 'run_b')
      expect(tokens).toHaveLength(2)
    })
  })
}
