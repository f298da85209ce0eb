import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { NotHeld } from '../../clients/cli/aws/prove/proof-stage.ts'
import type { ProofStep } from '../../clients/cli/aws/prove/proof-steps.ts'
import { count } from '../../clients/cli/terminal/format.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Files of test/aws that ask a stage over HTTP as one caller, and look at nothing behind it. */
export function blackBoxFiles(): readonly string[] {
  const names = readdirSync(join(ROOT, 'test/aws')).filter((name) => name.endsWith('.test.ts'))
  return names.sort().flatMap((name) => {
    const text = readFileSync(join(ROOT, 'test/aws', name), 'utf8')
    return /\bshippedStack\(/.test(text) && !/\.(?:place|states)\b/.test(text) ? `test/aws/${name}` : []
  })
}

/** Asks the stage what these files ask the emulated one; what stands in for it is not started. `env`: with credentials. */
export function suites(files: readonly string[], env: Readonly<Record<string, string | undefined>>): ProofStep {
  return {
    name: 'suites',
    claims: `${count(files.length, 'file')} of test/aws hold of this stage: ${files.map((file) => file.replace(/^.*\/|\.test\.ts$/g, '')).join(', ')}`,
    starts: [],
    async prove({ target: { url }, signal }) {
      // A first call of each function, and no more than a caller may ask in a minute: slower than emulators.
      const args = ['run', '--project', 'aws', '--testTimeout', '900000', '--retry', '0', ...files]
      const child = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
        cwd: ROOT,
        env: { ...env, SLUICE_AGAINST: url },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const stop = () => child.kill('SIGTERM')
      signal.addEventListener('abort', stop, { once: true })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          said = (said + text).slice(-100_000)
        })
      }
      const [code] = await once(child, 'close')
      signal.removeEventListener('abort', stop)
      const passed = /^(\d+ passed, \d+ failed)/m.exec(said)?.[1]
      const failed = [...said.matchAll(/^FAILED: (.+)$/gm)].map(([, what]) => what)
      if (code !== 0 || passed === undefined || failed.length > 0)
        throw new NotHeld([passed ?? `vitest ended with exit code ${code}`, ...failed].join('; '))
      return passed
    },
  }
}
