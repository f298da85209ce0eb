import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Opens an address in the person's browser; false when this machine has no way to. */
export function openBrowser(url: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const opened = url.includes('?') ? fileThatLeadsTo(url) : url
  return new Promise((resolve) => {
    const child = spawn(command, [...args, opened], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Everybody on a machine sees the words of a command: an address that holds a secret goes by a file of this user's. */
function fileThatLeadsTo(url: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-console-')), 'open.html')
  const page = `<!doctype html><meta charset="utf-8"><title>Sluice</title><meta http-equiv="refresh" content="0;url=${url}">\n`
  writeFileSync(file, page, { mode: 0o600 })
  return file
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
