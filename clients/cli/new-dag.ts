import { type Command, Option } from 'commander'
import type { Session } from './session.ts'
import { DAG_MODES } from './templates/dag-text.ts'
import type { NewDagOptions } from './write-dag.ts'

export function addNewDag(parent: Command, session: Session): void {
  parent
    .command('dag')
    .description('write a new document into the folder of documents')
    .argument('<name>', 'name of the DAG and of its file')
    .option('--blocks <ids>', 'its blocks, one after the other, separated by commas (default: draft,publish)')
    .addOption(new Option('--mode <mode>', 'what its blocks are (default: ai)').choices(DAG_MODES))
    .addOption(
      new Option('--from <example>', 'a copy of a document shipped with the package').conflicts(['blocks', 'mode']),
    )
    .option('--force', 'write over a file of that name')
    .option('--json', 'print JSON')
    .action(async (name: string, options: NewDagOptions) => {
      const { writeDag } = await import('./write-dag.ts')
      writeDag(session, name, options)
    })
}
