package io.outboard.cuda.agent;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The visitor replaces static calls, calls of interfaces' methods, and handles to either in one class. Types on the
 * stack stay the same, and so do its frames.
 */
final class CallRedirector extends ClassVisitor {

    private final List<Redirection> redirections;
    private boolean hasChanged;
    private int calls;

    CallRedirector(final ClassVisitor next, final List<Redirection> redirections) {
        super(Opcodes.ASM9, next);
        this.redirections = redirections;
    }

    /** Answers whether anything was changed so far. */
    boolean hasChanged() {
        return hasChanged;
    }

    /** Answers how many static calls, and handles to static methods, were changed so far. */
    int calls() {
        return calls;
    }

    @Override
    public MethodVisitor visitMethod(
            final int access,
            final String name,
            final String descriptor,
            final String signature,
            final String[] exceptions) {
        return new MethodVisitor(api, super.visitMethod(access, name, descriptor, signature, exceptions)) {

            @Override
            public void visitMethodInsn(
                    final int opcode,
                    final String owner,
                    final String function,
                    final String functionDescriptor,
                    final boolean isInterface) {
                final Handle target = switch (opcode) {
                    case Opcodes.INVOKESTATIC -> target(true, owner, function, functionDescriptor);
                    case Opcodes.INVOKEINTERFACE -> target(false, owner, function, functionDescriptor);
                    default -> null;
                };
                if (target == null) {
                    super.visitMethodInsn(opcode, owner, function, functionDescriptor, isInterface);
                } else {
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, target.getOwner(), function, target.getDesc(), false);
                }
            }

            @Override
            public void visitInvokeDynamicInsn(
                    final String method,
                    final String methodDescriptor,
                    final Handle bootstrap,
                    final Object... arguments) {
                final Object[] changed = arguments.clone();
                for (int i = 0; i < changed.length; i++) {
                    changed[i] = redirect(changed[i]);
                }
                super.visitInvokeDynamicInsn(method, methodDescriptor, bootstrap, changed);
            }

            @Override
            public void visitLdcInsn(final Object constant) {
                super.visitLdcInsn(redirect(constant));
            }
        };
    }

    /** Answers a constant, or what stands for it. */
    private Object redirect(final Object constant) {
        if (constant instanceof Handle handle
                && (handle.getTag() == Opcodes.H_INVOKESTATIC || handle.getTag() == Opcodes.H_INVOKEINTERFACE)) {
            final Handle target = target(
                    handle.getTag() == Opcodes.H_INVOKESTATIC, handle.getOwner(), handle.getName(), handle.getDesc());
            return target == null ? handle : target;
        }
        if (constant instanceof ConstantDynamic dynamic) {
            final Object[] arguments = new Object[dynamic.getBootstrapMethodArgumentCount()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = redirect(dynamic.getBootstrapMethodArgument(i));
            }
            return new ConstantDynamic(
                    dynamic.getName(), dynamic.getDescriptor(), dynamic.getBootstrapMethod(), arguments);
        }
        return constant;
    }

    /** Answers the function to which a call goes instead; null if the call stays. */
    private @Nullable Handle target(
            final boolean isStatic, final String owner, final String function, final String descriptor) {
        final String newDescriptor = isStatic ? descriptor : Redirection.withObject(owner, descriptor);
        for (final Redirection redirection : redirections) {
            if (redirection.sourceInternalName().equals(owner)
                    && redirection.functions().contains(function + newDescriptor)) {
                hasChanged = true;
                calls += isStatic ? 1 : 0;
                return new Handle(
                        Opcodes.H_INVOKESTATIC, redirection.targetInternalName(), function, newDescriptor, false);
            }
        }
        return null;
    }
}
