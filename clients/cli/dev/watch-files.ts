import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Files that were saved together, relative to the folder. */
export type SavedFiles = readonly string[]

/** Editors write a file in several steps, and several files at once: a save is over when nothing came for so long, ms. */
const SETTLES_MS = 120
/** Folders that are watched at most: the system holds an entry for each. */
const MOST_FOLDERS = 2_000

/**
 * What is saved below a folder, until `signal`. Folders of packages and hidden ones are not looked at, nor those in
 * `except`, into which a running place writes; nor what is hidden, a backup, a log (which may be what is said here), gone
 * before it was seen, or as it was.
 */
export function watchFiles(
  root: string,
  except: readonly string[],
  signal: AbortSignal,
): { readonly changes: AsyncGenerator<SavedFiles> } {
  const left = new Set(except.map((folder) => resolve(root, folder)))
  const watchers = new Map<string, FSWatcher>()
  const saved = new Set<string>()
  const stamps = new Map<string, string>()
  let wake = () => {}
  const note = (folder: string, name: string | null) => {
    if (name === null || IGNORED.test(name)) return
    const file = join(folder, name)
    const stamp = stampOf(file)
    if (stamp === (stamps.get(file) ?? GONE)) return
    stamps.set(file, stamp)
    if (stamp === FOLDER) watchBelow(file, note)
    else saved.add(relative(root, file).split(sep).join('/'))
    wake()
  }
  /** What stands in a folder that is new was saved with it: `found` is told. */
  const watchBelow = (top: string, found: typeof note) => {
    for (const folder of foldersBelow(top, left)) {
      if (watchers.has(folder) || watchers.size >= MOST_FOLDERS) continue
      const watcher = watch(folder, (_, name) => note(folder, name))
      // A folder that is gone is watched no more.
      watcher.on('error', () => forget(folder))
      watchers.set(folder, watcher)
      for (const name of namesIn(folder)) found(folder, name)
    }
  }
  const forget = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  watchBelow(root, (folder, name) => {
    if (name !== null) stamps.set(join(folder, name), stampOf(join(folder, name)))
  })
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (saved.size > 0 || signal.aborted) resolve()
    })
  async function* changes() {
    for (await next(); !signal.aborted; await next()) {
      await settled(saved)
      const files = [...saved].sort()
      saved.clear()
      if (files.length > 0 && !signal.aborted) yield files
    }
    for (const folder of [...watchers.keys()]) forget(folder)
  }
  return { changes: changes() }
}

/** Until no more came for a while. */
async function settled(saved: ReadonlySet<string>): Promise<void> {
  for (let seen = -1; seen !== saved.size; ) {
    seen = saved.size
    await delay(SETTLES_MS)
  }
}

/** Hidden, swap and backup files of editors, logs, and what lies in packages. */
const IGNORED = /^\.|^node_modules$|^__pycache__$|~$|\.(?:swp|swx|tmp|bak|log)$|^4913$/

const FOLDER = 'folder'
const GONE = 'gone'

/** Changes when the file does, or is gone. */
function stampOf(file: string): string {
  const seen = statSync(file, { throwIfNoEntry: false })
  if (seen === undefined) return GONE
  return seen.isDirectory() ? FOLDER : `${seen.mtimeMs}/${seen.size}/${seen.ino}`
}

function foldersBelow(top: string, left: ReadonlySet<string>): readonly string[] {
  const found: string[] = []
  const open = [top]
  for (let folder = open.pop(); folder !== undefined && found.length < MOST_FOLDERS; folder = open.pop()) {
    if (left.has(folder)) continue
    found.push(folder)
    for (const name of namesIn(folder)) if (stampOf(join(folder, name)) === FOLDER) open.push(join(folder, name))
  }
  return found
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !IGNORED.test(name))
  } catch {
    return []
  }
}
