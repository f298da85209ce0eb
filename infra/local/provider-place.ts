import { readFile } from 'node:fs/promises'
import type { OpenBedrock, ProviderPlace } from '../../functions/providers/registry.ts'
import { Fault } from '../../shared/errors.ts'
import { PROVIDER_FILES } from '../../shared/provider.ts'
import type { ObjectStore } from '../../shared/world.ts'
import { keysFrom } from './provider-keys.ts'

/**
 * What adapters need of this place: keys from named environment variables, recordings from files or its own objects, and
 * Bedrock's adapter, whose file is loaded, with the AWS SDK, by the first dispatch to a provider of that type.
 */
export function providerPlace(
  keys: ReadonlyMap<string, string>,
  objects: Pick<ObjectStore, 'get'>,
): Required<ProviderPlace> {
  return {
    readKey: keysFrom(keys),
    readRecord: (record) => readRecord(record, objects),
    bedrock: async (name, settings, price) => (await loadBedrock())(name, settings, price),
  }
}

async function readRecord(record: string, objects: Pick<ObjectStore, 'get'>): Promise<Uint8Array> {
  if (!record.startsWith('objstore://')) return readFile(record)
  const [tenant = ''] = record.slice('objstore://'.length).split('/')
  return objects.get(tenant, record)
}

async function loadBedrock(): Promise<OpenBedrock> {
  const file = PROVIDER_FILES.bedrock
  const module: { readonly openBedrock?: unknown } = await import(
    new URL(`../../functions/${file}`, import.meta.url).href
  )
  if (typeof module.openBedrock !== 'function') {
    throw new Fault('Bug', 'no_handler', `Cannot ask Bedrock: functions/${file} does not export "openBedrock".`)
  }
  // The file is ours; its export is of this type, which functions/aws/providers-with-bedrock.ts holds it to.
  return module.openBedrock as OpenBedrock
}
