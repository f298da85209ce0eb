import { expect, test } from 'vitest'
import { openDatabase } from '../../infra/local/database.ts'
import { openTokens } from '../../infra/local/tokens.ts'
import { NOW, tokensSuite } from './tokens-suite.ts'

tokensSuite('SQLite', async () => {
  const db = openDatabase(':memory:')
  return { tokens: openTokens(db, { now: () => NOW }), close: async () => db.close() }
})

test('a token that expired stays on record for 400 days, and is gone when another one is made after them', async () => {
  const db = openDatabase(':memory:')
  let now = NOW
  const tokens = openTokens(db, { now: () => now })
  const token = (id: string, days: number) => ({
    ...{ tenant: 'main', id, secret_sha256: 'ab'.repeat(32), name: 'n', scopes: ['runs:read' as const] },
    ...{ created_at: new Date(NOW).toISOString(), created_by: 'user:ana' },
    expires_at: new Date(NOW + days * 86_400_000).toISOString(),
  })
  await tokens.put(token('a', 1))
  now = NOW + 401 * 86_400_000
  await tokens.put(token('b', 1000))
  expect((await tokens.list('main')).map(({ id }) => id)).toEqual(['a', 'b'])
  now = NOW + 402 * 86_400_000
  await tokens.put(token('c', 1000))
  expect((await tokens.list('main')).map(({ id }) => id)).toEqual(['b', 'c'])
  db.close()
})
