import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The folder that `make` fills for `key`, made once in a test run: whichever file asks first makes it, those that ask
 * meanwhile wait. Nobody writes into it afterwards. When making fails the next one tries.
 */
export async function onceARun(key: unknown, make: (dir: string) => Promise<void>): Promise<string> {
  const root = process.env.SLUICE_TEST_SHARED
  if (root === undefined) throw new Error('no folder is shared: the global setup shared-folder.ts did not run')
  const made = join(root, createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 20))
  const making = `${made}.making`
  while (!existsSync(made)) {
    if (!isMine(making)) await sleep(50)
    else if (existsSync(made)) rmSync(making, { recursive: true })
    else await makeIn(making, made, make)
  }
  return made
}

function isMine(dir: string): boolean {
  try {
    mkdirSync(dir)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function makeIn(making: string, made: string, make: (dir: string) => Promise<void>): Promise<void> {
  try {
    await make(making)
    renameSync(making, made)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    throw error
  }
}
