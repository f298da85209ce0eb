import type { Command } from 'commander'
import type { Session } from './session.ts'
import type { ValidateOptions } from './validate-files.ts'

export function addValidate(parent: Command, session: Session): void {
  parent
    .command('validate')
    .description('check documents without a server; exit code 100 when one has errors')
    .argument('[files...]', 'default: sluice.yaml, if there is one, and every dags/*.yaml')
    .option('--json', 'print JSON')
    .option('--ndjson', 'read lines {"id","yaml"} from stdin, answer a line each; exit code 0 when all were answered')
    .action(async (files: readonly string[], options: ValidateOptions) => {
      const { validateFiles } = await import('./validate-files.ts')
      await validateFiles(session, files, options)
    })
}
