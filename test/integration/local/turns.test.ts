import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { commitTogether } from '../../../infra/local/transaction.ts'

test('commitTogether() lets timers and requests through while commit follows commit', async () => {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE numbers (n INTEGER)')
  const insert = db.prepare('INSERT INTO numbers VALUES (?)')
  const until = performance.now() + 400
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const chain = async () => {
    while (performance.now() < until) await commitTogether(db, () => insert.run(1))
  }
  await Promise.all([chain(), chain(), chain()])
  clearInterval(timer)
  db.close()
  // Without a turn of the loop the timer never comes.
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(200)
})
