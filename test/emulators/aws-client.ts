/** Where and as whom the SDK clients of a test call an emulator: nothing of the machine's own AWS settings is used. */
export interface EmulatedAws {
  readonly endpoint: string
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

export const REGION = 'eu-central-1'
export const ACCOUNT = '000000000000'

export function emulatedAws(endpoint: string): EmulatedAws {
  return { endpoint, region: REGION, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
}
