import { describe, expect, test } from 'vitest'
import { listedKeys, matchKey } from '../../../clients/console/parts/key-match.ts'
import { capLabel, capWords } from '../../../clients/console/safety/cap-words.ts'
import { SafetySchema } from '../../../shared/runs/safety-settings.ts'

const KEYS = [
  { keys: 'a', by: 'view' },
  { keys: 'g r', by: 'frame' },
  { keys: 'g a', by: 'frame' },
]

describe('a key that is typed', () => {
  test('finds what it stands for', () => {
    expect(matchKey(KEYS, undefined, 'a')).toEqual({ found: KEYS[0] })
    expect(matchKey(KEYS, undefined, 'z')).toEqual({})
  })

  test('begins a sequence, and its second key ends it', () => {
    expect(matchKey(KEYS, undefined, 'g')).toEqual({ pending: 'g' })
    expect(matchKey(KEYS, 'g', 'r')).toEqual({ found: KEYS[1] })
    expect(matchKey(KEYS, 'g', 'a')).toEqual({ found: KEYS[2] })
  })

  test('counts as a first one where the sequence leads nowhere', () => {
    expect(matchKey(KEYS.slice(0, 2), 'g', 'a')).toEqual({ found: KEYS[0] })
    expect(matchKey(KEYS, 'g', 'g')).toEqual({ pending: 'g' })
  })

  test('means what came last: a view shadows the frame, and is listed once', () => {
    const twice = [...KEYS, { keys: 'a', by: 'dialog' }]
    expect(matchKey(twice, undefined, 'a')).toEqual({ found: { keys: 'a', by: 'dialog' } })
    expect(listedKeys(twice).map(({ keys, by }) => `${keys} ${by}`)).toEqual(['a dialog', 'g r frame', 'g a frame'])
  })
})

describe('caps in words', () => {
  test.each<[string, number | boolean | null, string]>([
    ['max_run_sec', 604_800, '7 days'],
    ['stall_sec', 300, '5 min 00 s'],
    ['max_block_ms', 840_000, '14 min 00 s'],
    ['max_body_bytes', 1_048_576, '1.0 MiB'],
    ['max_run_usd', 2.5, '$2.5'],
    ['retention_days', 1, '1 day'],
    ['max_run_tokens', null, 'no cap'],
    ['queue', false, 'no'],
    ['max_parallel', 0, 'no limit'],
    ['max_runs', 1_000, '1,000'],
  ])('%s of %s is %s', (name, value, words) => {
    expect(capWords(name, value)).toBe(words)
  })

  test('every setting of the policy has words of its own', () => {
    const names = Object.keys(SafetySchema.shape)
    expect(names.filter((name) => capLabel(name) === name.replaceAll('_', ' '))).toEqual([])
  })
})
