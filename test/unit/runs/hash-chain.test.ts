import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHAIN_START, chainHash, hashAfter } from '../../../shared/runs/hash-chain.ts'
import { logOf, runStarted } from './event-log.ts'
import { someLog } from './some-log.ts'

test('chainHash() is sha256 of the hash before and the canonical JSON of the event', () => {
  const event = { seq: 1, id: 'a/10/0', type: 'block:ready', run_id: 'run_1', at: 't', data: {} } as const
  const text = '{"at":"t","data":{},"id":"a/10/0","run_id":"run_1","seq":1,"type":"block:ready"}'
  const wanted = createHash('sha256').update(`${CHAIN_START}${text}`).digest('hex')
  expect(chainHash(CHAIN_START, event)).toBe(wanted)
})

test('chainOf() may be taken up anywhere, and does not see the order of members', () => {
  fc.assert(
    fc.property(someLog, fc.nat(60), (log, cut) => {
      const turned = log.map((event) => Object.fromEntries(Object.entries(event).reverse()) as typeof event)
      expect(hashAfter(log.slice(cut), hashAfter(log.slice(0, cut)))).toBe(hashAfter(turned))
    }),
  )
})

test('chainOf() changes with any edited, missing, added or moved event', () => {
  fc.assert(
    fc.property(
      someLog.filter((log) => log.length > 2),
      fc.nat(),
      (log, n) => {
        const i = n % (log.length - 1)
        const whole = hashAfter(log)
        const edited = log.map((event, k) => (k === i ? { ...event, at: `${event.at.slice(0, -2)}1Z` } : event))
        const missing = log.filter((_, k) => k !== i)
        const moved = log.map((event, k) => log[k === i ? i + 1 : k === i + 1 ? i : k] ?? event)
        for (const other of [edited, missing, moved, [...log, ...log.slice(i, i + 1)]]) {
          expect(hashAfter(other)).not.toBe(whole)
        }
      },
    ),
  )
  expect(hashAfter([])).toBe(CHAIN_START)
  expect(hashAfter(logOf([runStarted]))).toMatch(/^[0-9a-f]{64}$/)
})
