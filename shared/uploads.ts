/** Bytes of one upload at most: a search looks at the first 4 MiB, a person reads the rest. */
export const MOST_UPLOAD_BYTES = 67_108_864

/** Where one body may be sent, for a while: with this method, exactly these headers, and only this content. */
export interface UploadTicket {
  /** Of another host, or a path of the API itself. */
  readonly url: string
  readonly method: 'PUT'
  readonly headers: Readonly<Record<string, string>>
  /** ISO. */
  readonly expires_at: string
}

/** Bodies that are too large for a request of the API: they go past it to where objects are. */
export interface Uploads {
  open(tenant: string, body: { readonly sha256: string; readonly size: number }): Promise<UploadTicket>
}
