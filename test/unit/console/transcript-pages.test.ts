import { describe, expect, test } from 'vitest'
import { withDelta, withoutAnswered } from '../../../clients/console/run/session/voices.ts'
import {
  firstOpenTurn,
  readText,
  readTranscript,
  shortArguments,
  type TranscriptPage,
  type TranscriptTurn,
  withPage,
} from '../../../clients/console/run/transcript/transcript-pages.ts'

const used = { attempts: 1, tokens_in: 0, tokens_out: 0, usd: null }
const turn = (n: number, state = 'completed', ...calls: readonly TranscriptTurn['calls'][number]['state'][]) =>
  ({
    ...{ turn: n, item: (n - 1) * 100, state, ...used },
    calls: calls.map((of, index) => ({
      ...{ call: index + 1, item: 0, tool: 't', use: 't', gates: [], ...used },
      state: of,
    })),
  }) satisfies TranscriptTurn
const page = (turns: readonly TranscriptTurn[], more: Partial<TranscriptPage> = {}): TranscriptPage => ({
  ...{ run_id: 'run_1', block_id: 'act', state: 'running', epoch: 0, attempt: 1, turns_total: turns.length },
  ...{ turns: [...turns], ...more },
})

describe('pages of a transcript', () => {
  test('take the place of what was known of their turns', () => {
    const known = [turn(1), turn(2, 'running')]
    const next = withPage(known, { turns: [turn(2), turn(3)], turns_total: 3 })
    expect(next.map(({ turn: n, state }) => [n, state])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
      [3, 'completed'],
    ])
  })

  test('are asked for from the first turn that may still change', () => {
    expect(firstOpenTurn([])).toBe(1)
    expect(firstOpenTurn([turn(1), turn(2)])).toBe(3)
    expect(firstOpenTurn([turn(1, 'completed', 'completed', 'paused_approval'), turn(2)])).toBe(1)
    expect(firstOpenTurn([turn(1, 'completed', 'refused'), turn(2, 'running')])).toBe(2)
  })

  test('are read one after the other, once at a time, and anew where a pass began anew', async () => {
    const asked: number[] = []
    const answers = [
      page([turn(1)], { turns_total: 2, next_turn: 2 }),
      page([turn(2, 'running')], { turns_total: 2 }),
      page([turn(2)], { turns_total: 2 }),
      page([turn(1, 'running')], { epoch: 1 }),
      page([turn(1, 'running')], { epoch: 1 }),
    ]
    const shown: (readonly TranscriptTurn[])[] = []
    const settled = { resolve: () => {} }
    const reading = readTranscript({
      ask: async (n) => {
        asked.push(n)
        const answer = answers[asked.length - 1]
        if (answer === undefined) throw new Error('asked too often')
        return answer
      },
      show: (turns, isWhole) => {
        shown.push(turns)
        if (isWhole) settled.resolve()
      },
      fail: (error) => expect.unreachable(String(error)),
    })
    const whole = () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      settled.resolve = resolve
      return promise
    }
    const first = whole()
    reading.load()
    await first
    expect(asked).toEqual([1, 2])
    await new Promise((resolve) => setImmediate(resolve))
    const second = whole()
    reading.load()
    await second
    expect(asked).toEqual([1, 2, 2])
    await new Promise((resolve) => setImmediate(resolve))
    const third = whole()
    reading.load()
    await third
    expect(asked).toEqual([1, 2, 2, 3, 1])
    expect(shown.at(-1)?.map(({ state }) => state)).toEqual(['running'])
  })

  test('have texts that are read as what they are', () => {
    expect(readText('{"a":1}')).toEqual({ a: 1 })
    expect(readText('{"a":')).toBe('{"a":')
    expect(readText('plain')).toBe('plain')
    expect(shortArguments('{\n "a": 1 }')).toBe('{ "a": 1 }')
    expect(shortArguments('x'.repeat(200))).toHaveLength(91)
  })
})

describe('what a model says now', () => {
  const delta = { type: 'block:delta', block_id: 'act', item: 0, epoch: 0, attempt: 1, question: 0 } as const

  test('grows, says where some of it is missing, and begins anew with another answer', () => {
    const said = [
      { ...delta, from: 0, text: 'One' },
      { ...delta, from: 3, text: ' two' },
    ].reduce(withDelta, new Map())
    expect(said.get('act.0')).toMatchObject({ text: 'One two', missed: false })
    expect(withDelta(said, { ...delta, from: 90, text: '!' }).get('act.0')).toMatchObject({ missed: true })
    const again = withDelta(said, { ...delta, question: 1, from: 0, text: 'Again' })
    expect(again.get('act.0')).toMatchObject({ text: 'Again', missed: false })
  })

  test('is over when the answer is recorded, and not when its attempt begins', () => {
    const said = withDelta(new Map(), { ...delta, from: 0, text: 'One' })
    expect(withoutAnswered(said, [{ type: 'block:started', block_id: 'act', item: 0 }]).size).toBe(1)
    expect(withoutAnswered(said, [{ type: 'block:output', block_id: 'act', item: 100 }]).size).toBe(1)
    expect(withoutAnswered(said, [{ type: 'block:output', block_id: 'act', item: 0 }]).size).toBe(0)
    expect(withoutAnswered(said, [{ type: 'run:cancelled' }]).size).toBe(0)
  })
})
