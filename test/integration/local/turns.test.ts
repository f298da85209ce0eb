import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { commitTogether } from '../../../infra/local/database.ts'

/** A turn of the loop has time for some thousands of them. */
const MANY = 200_000

test('commitTogether() lets timers and requests through while commit follows commit', async () => {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE numbers (n INTEGER)')
  const insert = db.prepare('INSERT INTO numbers VALUES (?)')
  let [turns, commits] = [0, 0]
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  // Without a turn of the loop the timer never comes.
  const chain = async () => {
    for (; turns < 5 && commits < MANY; commits += 1) await commitTogether(db, () => insert.run(1))
  }
  await Promise.all([chain(), chain(), chain()])
  clearInterval(timer)
  db.close()
  expect(turns).toBeGreaterThanOrEqual(5)
})
