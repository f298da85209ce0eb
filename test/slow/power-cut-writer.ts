import { join } from 'node:path'
import { allCommitted, openDatabase } from '../../infra/local/database.ts'
import { openObjects } from '../../infra/local/folder-objects.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import { openStoredObjects } from '../../infra/local/stored-objects.ts'
import { keyOf, newRun, step } from '../conformance/run-store-fixture.ts'

/**
 * `node test/slow/power-cut-writer.ts FOLDER normal|full RUNS`: creates runs side by side, each with objects that its
 * events come after, and says on standard output what it was told is written: `run N SEQ` and `object REF`.
 */
const [folder = '', durability, runs = '10'] = process.argv.slice(2)
const how = durability === 'full' ? 'full' : 'normal'
const db = openDatabase(folder, how)
const store = openRunStore(db)
const objects = openStoredObjects(db, openObjects(join(folder, 'objects'), how))

async function write(n: number): Promise<void> {
  const run = newRun(n)
  await store.create(run)
  // As whoever answers over HTTP does (docs/adr/0083).
  await allCommitted(db)
  process.stdout.write(`run ${n} 1\n`)
  for (let i = 0; i < 4; i += 1) {
    const { ref } = await objects.put('main', Buffer.from(`body ${n} ${i} `.repeat(1 + ((n * 7 + i) % 50))))
    process.stdout.write(`object ${ref}\n`)
    const done = await store.append(step(keyOf(run.meta), String(i), 10))
    if (done.ok) process.stdout.write(`run ${n} ${done.seq}\n`)
  }
}

for (let n = 1; n <= Number(runs); n += 3) {
  await Promise.all([n, n + 1, n + 2].filter((one) => one <= Number(runs)).map(write))
}
db.close()
