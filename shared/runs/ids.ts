import { sha256 } from '../canonical.ts'

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
const RUN_ID_CHARS = 26

/** `run_` + 26 characters of Crockford base 32, lower case, from 17 random bytes (130 bits are used). */
export function newRunId(random: Uint8Array): string {
  return `run_${base32(random)}`
}

/** The same key on the same route of the same tenant is always the same run (decisions, "Ids, hashes, names"). */
export function runIdOfKey(tenant: string, route: string, key: string): string {
  return `run_${base32(Buffer.from(sha256(`${tenant}|${route}|${key}`), 'hex'))}`
}

/** `apr_<26 of the run id>_<block index, base 36>_<epoch>`. */
export function approvalId(runId: string, block: number, epoch: number): string {
  return `apr_${runId.slice('run_'.length)}_${block.toString(36)}_${epoch}`
}

function base32(bytes: Uint8Array): string {
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  let text = ''
  for (let i = 0; i < RUN_ID_CHARS; i += 1) {
    text += CROCKFORD[Number(bits & 31n)] ?? ''
    bits >>= 5n
  }
  return text
}
