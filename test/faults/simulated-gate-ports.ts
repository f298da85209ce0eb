import jsonata from 'jsonata'
import type { Job } from '../../functions/isolate/isolate-messages.ts'
import { runSchemaJob } from '../../functions/isolate/schema-engine.ts'
import type { Isolated } from '../../shared/ports/isolate.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'

/** What gates and transforms call, answered in this thread: programs of ours only, so nobody has to be kept out. */
export function simulatedGatePorts(): Pick<World, 'isolate' | 'http' | 'shell' | 'inputs'> {
  return {
    isolate: {
      run: (kind, { program, input }) =>
        kind === 'transform' ? transformed(String(program), input) : schemaChecked({ kind, program, input }),
    },
    http: {
      request: async ({ url }) => ({ kind: 'answered', status: 200, url, body: 'fine' }),
    },
    shell: {
      run: async ({ argv }) => ({ kind: 'ended', exit_code: argv[0] === 'true' ? 0 : 1, stdout: '', stderr: '' }),
    },
    inputs: {
      read: async () => Buffer.from('a good input'),
    },
  }
}

async function transformed(program: string, input: Json): Promise<Isolated> {
  try {
    const value: unknown = await jsonata(program).evaluate(input)
    return { ok: true, value: JSON.parse(JSON.stringify(value)) as Json }
  } catch (error) {
    return { ok: false, because: 'error', message: String(error) }
  }
}

async function schemaChecked(job: Job): Promise<Isolated> {
  try {
    return { ok: true, value: JSON.parse(runSchemaJob(job)) as Json }
  } catch (error) {
    return { ok: false, because: 'error', message: String(error) }
  }
}
