import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoredToken, Tokens } from '../../shared/auth/token.ts'

/** When the suite takes place. */
export const NOW = Date.parse('2026-11-22T12:00:00.000Z')

const IN_A_DAY = '2026-11-23T12:00:00.000Z'

const token = (id: string, more: Partial<StoredToken> = {}): StoredToken => ({
  tenant: 'main',
  id: id.padEnd(16, '0'),
  secret_sha256: 'ab'.repeat(32),
  name: 'ci: "nightly" – ü',
  scopes: ['runs:read', 'runs:write'],
  created_at: '2026-11-22T12:00:00.000Z',
  created_by: 'iam:Admin',
  created_person: 'user:ana',
  expires_at: IN_A_DAY,
  ...more,
})

interface Opened {
  readonly tokens: Tokens
  close(): Promise<void>
}

/** What every store of tokens does. */
export function tokensSuite(name: string, open: () => Promise<Opened>): void {
  describe(`Tokens on ${name}`, () => {
    let opened: Opened
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    test('what was put is got and listed as it was; nothing is got of another id', async () => {
      const { tokens } = opened
      expect(await tokens.put(token('b'))).toBe(true)
      expect(await tokens.put(token('a', { scopes: ['admin:tokens'] }))).toBe(true)
      expect(await tokens.get(token('b').id)).toEqual(token('b'))
      expect(await tokens.get(token('c').id)).toBeUndefined()
      expect(await tokens.list('main')).toEqual([token('a', { scopes: ['admin:tokens'] }), token('b')])
    })

    test('an id is given once: another token of it is refused and changes nothing, the same again is taken', async () => {
      const { tokens } = opened
      expect(await tokens.put(token('a'))).toBe(true)
      expect(await tokens.put(token('a', { secret_sha256: 'cd'.repeat(32) }))).toBe(false)
      expect(await tokens.put(token('a', { tenant: 'other' }))).toBe(false)
      expect(await tokens.put(token('a'))).toBe(true)
      expect(await tokens.get(token('a').id)).toEqual(token('a'))
    })

    test('of many who want one id at once, one gets it', async () => {
      const wanted = Array.from({ length: 8 }, (_, i) => token('a', { name: `n${i}` }))
      const got = await Promise.all(wanted.map((one) => opened.tokens.put(one)))
      const winners = wanted.filter((_, i) => got[i])
      expect(winners).toEqual([await opened.tokens.get(token('a').id)])
    })

    test('revoked is revoked for good, and by whom it was first', async () => {
      const { tokens } = opened
      const first = { at: '2026-11-22T13:00:00.000Z', by: 'iam:Admin', person: 'user:ana' }
      await tokens.put(token('a'))
      expect(await tokens.revoke('main', token('a').id, first)).toEqual(token('a', { revoked: first }))
      const later = { at: '2026-11-22T14:00:00.000Z', by: 'user:bob' }
      expect(await tokens.revoke('main', token('a').id, later)).toEqual(token('a', { revoked: first }))
      expect(await tokens.get(token('a').id)).toEqual(token('a', { revoked: first }))
      expect(await tokens.list('main')).toEqual([token('a', { revoked: first })])
      // Who makes it again does not make it valid again.
      expect(await tokens.put(token('a'))).toBe(false)
      expect((await tokens.get(token('a').id))?.revoked).toEqual(first)
    })

    test("another tenant's tokens are neither listed nor revoked, exactly as unknown ones", async () => {
      const { tokens } = opened
      await tokens.put(token('a', { tenant: 'other' }))
      expect(await tokens.list('main')).toEqual([])
      const revoked = { at: IN_A_DAY, by: 'user:ana' }
      expect(await tokens.revoke('main', token('a').id, revoked)).toBeUndefined()
      expect(await tokens.revoke('main', token('b').id, revoked)).toBeUndefined()
      expect(await tokens.get(token('b').id)).toBeUndefined()
      expect((await tokens.get(token('a').id))?.revoked).toBeUndefined()
      expect(await tokens.list('other')).toEqual([token('a', { tenant: 'other' })])
    })

    test('many are listed whole', async () => {
      const many = Array.from({ length: 60 }, (_, i) => token(`a${String(i).padStart(2, '0')}`))
      for (const one of many) await opened.tokens.put(one)
      expect(await opened.tokens.list('main')).toEqual(many)
    })
  })
}
