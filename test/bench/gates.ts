import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { printAgreement } from './gates/print-agreement.ts'
import { printHostile } from './gates/print-hostile.ts'
import { printTimes } from './gates/print-times.ts'
import { openPromptfoo } from './gates/promptfoo.ts'

/**
 * Gates against promptfoo's assertion library: `npm run bench:gates [rounds] [inputs]`. First the time of twenty
 * gates on 100 KB, then how often both give the same answer (a difference without a known reason ends it with 1), then
 * what hostile input comes to.
 */
async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'gates', 'node_modules'))) {
    process.stderr.write('promptfoo is not installed: npm ci --prefix test/bench/gates\n')
    process.exit(2)
  }
  const rounds = Number(process.argv[2] ?? 101)
  const inputs = Number(process.argv[3] ?? 300)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gates-'))
  const isolate = createIsolate()
  try {
    const promptfoo = await openPromptfoo(folder)
    const machine = `${cpus().length} x ${cpus()[0]?.model}, load ${(loadavg()[0] ?? 0).toFixed(1)}`
    print(`promptfoo ${promptfoo.version}, Node ${process.version}, ${machine}`)
    await printTimes({ promptfoo, isolate, rounds, print })
    const unexplained = await printAgreement({ promptfoo, isolate, inputs, print })
    await printHostile({ isolate, print })
    process.exitCode = unexplained === 0 ? 0 : 1
  } finally {
    await isolate.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
// promptfoo leaves timers behind.
process.exit()
