import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CdkOptions, runCdk } from './aws/run-cdk.ts'
import type { Templates } from './deploy-summary.ts'

/** One synthesis of a stage: what is shown of it is what is deployed. */
export interface Synthesis {
  readonly templates: Templates
  /** `cdk` on what was synthesized, without synthesizing again. */
  cdk(...args: readonly string[]): Promise<void>
}

/** Synthesizes the stage into a folder of its own, which is gone when `use` is done. */
export async function withSynthesis(
  stage: string,
  options: CdkOptions,
  use: (made: Synthesis) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'))
  try {
    await runCdk(['synth', '--quiet', '--output', folder, '--context', `sluice:stage=${stage}`], options)
    await use({
      templates: readTemplates(folder),
      cdk: (...args) => runCdk([...args, '--app', folder], options),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readTemplates(folder: string): Templates {
  const files = readdirSync(folder).filter((name) => name.endsWith('.template.json'))
  const read = files.sort().map((name) => {
    const { Resources } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return [name.replace('.template.json', ''), Resources] as const
  })
  return Object.fromEntries(read)
}
