import { sha256 } from '../text/hash.ts'

/** The family of the task definition of a container. */
export function taskFamily(stage: string, name: string): string {
  return `sluice-${stage}-container-${name}`
}

/** The folder of the bucket that one attempt's container reads from and writes to. */
export function taskFolder({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant}/containers/${sha256(key)}`
}

/**
 * What stands before and after the container itself in its task: the same files it finds on a laptop are brought to
 * /sluice, and what it wrote is taken from there. BUCKET is of the task definition, the others of each attempt.
 */
export const FETCH = [
  'set -e',
  'mkdir -p /sluice/files /sluice/artifacts',
  'aws s3 cp --only-show-errors "s3://$BUCKET/$SLUICE_FOLDER/input.json" /sluice/input.json',
  'if [ -n "$SLUICE_FILES" ]; then aws s3 cp --only-show-errors --recursive "s3://$BUCKET/$SLUICE_FOLDER/files/" /sluice/files/; fi',
  'chmod -R a+rwX /sluice',
].join('\n')

/** Only where the container ended with exit code 0: else its task fails, and nothing it wrote is taken. */
export const PUBLISH = [
  'set -e',
  'cd /sluice/artifacts',
  'find . -type f > /tmp/artifacts.txt',
  'aws s3 cp --only-show-errors /tmp/artifacts.txt "s3://$BUCKET/$SLUICE_FOLDER/artifacts.txt"',
  'if [ -s /tmp/artifacts.txt ]; then aws s3 cp --only-show-errors --recursive /sluice/artifacts "s3://$BUCKET/$SLUICE_FOLDER/artifacts/"; fi',
  'aws s3 cp --only-show-errors /sluice/output.json "s3://$BUCKET/$SLUICE_FOLDER/output.json"',
].join('\n')
