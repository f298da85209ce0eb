import { readdirSync, rmSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes every file below the objects' folder that was last written before that time (ms) and that nobody `keeps`;
 * answers how many. A put of the same content writes again; it is synchronous too, so it comes before the look at a file
 * or after its end.
 */
export async function removeOldObjects(
  folder: string,
  before: number,
  keeps: (sha256: string) => boolean,
): Promise<number> {
  let removed = 0
  for (const dir of await foldersOf(folder)) {
    for (const name of readdirSync(dir)) removed += removeOld(dir, name, before, keeps)
    // One folder a turn: others work in between.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return removed
}

/** `<tenant>/objects/<aa>` */
async function foldersOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

function removeOld(dir: string, name: string, before: number, keeps: (sha256: string) => boolean): number {
  const path = join(dir, name)
  const seen = statSync(path)
  if (!seen.isFile() || seen.mtimeMs >= before || keeps(name)) return 0
  rmSync(path)
  return 1
}
