#include "client.h"

#include "fail.h"

#include <dlfcn.h>

int ins_client_load(const struct ins_client *client, void *lib,
                    struct insula_error *error)
{
    /* Global, as if it had been linked: plug-ins of a client may look for it. */
    void *library = dlopen(client->file, RTLD_NOW | RTLD_GLOBAL);
    for (size_t i = 0; library && i < client->count; i++) {
        void *call = dlsym(library, client->calls[i]);
        if (!call)
            library = NULL;
        memcpy((char *)lib + i * sizeof call, &call, sizeof call);
    }
    if (library)
        return 0;
    /* glibc keeps the text a thread each, and prepare runs in the only one. */
    return ins_rec_fail(error, INSULA_E_USAGE,
                        "cannot load %s: install the package %s (%s)", client->file,
                        client->package, dlerror()); /* NOLINT(concurrency-mt-unsafe) */
}
