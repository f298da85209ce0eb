import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Runs a script of scripts/ to its end, in a working folder without any sluice.yaml, which is gone afterwards. */
export async function runDemo(script: string): Promise<{ readonly out: string; readonly code: number | null }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
  try {
    const file = resolve(import.meta.dirname, '../../scripts', script)
    const child = spawn(process.execPath, [file, '--data-dir', join(folder, 'data')], { cwd: folder, stdio: 'pipe' })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
    }
    const [code] = await once(child, 'close')
    return { out, code }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
